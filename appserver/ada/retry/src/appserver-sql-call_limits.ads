--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  The time limit of a retried call, for the connections that it uses.

pragma Ada_2022;

with Ada.Real_Time;

private with Appserver.SQL.Time_Limits;

package Appserver.SQL.Call_Limits is
   pragma Assertion_Policy (Pre => Check);

   type Call_Limit is tagged limited private;

   procedure Start
     (Self : in out Call_Limit; On : Connection'Class; Deadline : Ada.Real_Time.Time)
     with Pre => On.Is_Open or else raise Misuse_Error with "the connection is closed";
   --  Until Self leaves scope. At Deadline the connection is lost, so that what waits for its
   --  server raises SQL_Error, 08006. A database without a server has no limit.

   procedure Begin_Opening (On : in out Connection'Class; Deadline : Ada.Real_Time.Time);
   procedure End_Opening (On : in out Connection'Class);
   --  In between, no operation of On waits beyond Deadline, whatever its Wait_Limit becomes

private

   type Call_Limit is tagged limited record
      Limit : Time_Limits.Time_Limit;
   end record;

end Appserver.SQL.Call_Limits;
