--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Time limits for what waits for a server: a connection whose server is silent is cut off, so that
--  the call that waits fails. So it covers whatever the database's library does.
--
--     declare
--        Limit : Time_Limit;
--     begin
--        Limit.Start (DB, Deadline => Clock + Seconds (5));
--        DB.Execute ("SELECT 1");
--     end;

pragma Ada_2022;

with Ada.Real_Time;

private package Appserver.SQL.Time_Limits is

   type Time_Limit is tagged limited private;

   procedure Start
     (Self     : in out Time_Limit;
      On       : SQL.Connection'Class;
      Deadline : Ada.Real_Time.Time);
   --  Until Self leaves scope. At Deadline the connection is lost: the call that waits for it
   --  raises SQL_Error, 08006. Nothing happens to a database without a server. SQL_Error, 53000, if
   --  there is no file descriptor for it.

private

   type Limit_Access is access all Time_Limit;

   type Time_Limit is new Ada.Finalization.Limited_Controlled with record
      Deadline : Ada.Real_Time.Time;
      Socket   : Integer := -1;
      --  A descriptor of its own: the library may close the other one at any time
      Next     : Limit_Access;
   end record;

   overriding procedure Finalize (Self : in out Time_Limit);

end Appserver.SQL.Time_Limits;
