--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Applies the timeout of a retried call to the connections that the call uses.

pragma Ada_2022;

with Ada.Real_Time;

private with Appserver.SQL.Time_Limits;

package Appserver.SQL.Call_Limits is
   pragma Assertion_Policy (Pre => Check);

   type Call_Limit is tagged limited private;

   procedure Start
     (Self : in out Call_Limit; On : Connection'Class; Deadline : Ada.Real_Time.Time)
     with Pre => On.Is_Open or else raise Misuse_Error with "the connection is closed";
   --  Sets a deadline for a connection, until Self leaves scope. At Deadline, the connection is
   --  shut down, so operations that wait for the server raise SQL_Error 08006. Has no effect for a
   --  database without a server.

   procedure Begin_Opening (On : in out Connection'Class; Deadline : Ada.Real_Time.Time);
   procedure End_Opening (On : in out Connection'Class);
   --  Begin and end a period in which no operation of On waits beyond Deadline, even if the
   --  connection's Wait_Limit is changed

private

   type Call_Limit is tagged limited record
      Limit : Time_Limits.Time_Limit;
   end record;

end Appserver.SQL.Call_Limits;
