--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Time limits for calls that wait for a server. At the limit the connection is shut down, so that
--  the waiting call fails, wherever in the database's library it waits.
--
--     declare
--        Limit : Time_Limit;
--     begin
--        Limit.Start (DB, Deadline => Clock + Seconds (5));
--        DB.Execute ("SELECT 1");
--     end;

pragma Ada_2022;

with Ada.Real_Time;
with System;

private package Appserver.SQL.Time_Limits is

   type Time_Limit is tagged limited private;

   procedure Start
     (Self     : in out Time_Limit;
      On       : SQL.Connection'Class;
      Deadline : Ada.Real_Time.Time);
   --  Until Self leaves scope. At Deadline the connection is lost: the call that waits for it
   --  raises SQL_Error, 08006. Nothing happens to a database without a server. SQL_Error, 53000, if
   --  there is no file descriptor for it.

   procedure Start_Or_Cut_Off
     (Self     : in out Time_Limit;
      On       : SQL.Connection'Class;
      Deadline : Ada.Real_Time.Time);
   --  The same, but without a file descriptor the connection is lost at once: for closing it

   type Operation (On : not null access Connection'Class) is limited private;
   --  From its declaration to the end of its scope, the connection's Wait_Limit applies, and Cancel
   --  has an operation to stop. The declaration waits for a Cancel in progress, and raises
   --  SQL_Error, 08006, if the outcome of one is unknown. An Operation inside another one of the
   --  same connection has no effect.

   type Cleanup (On : not null access Connection'Class) is limited private;
   --  An Operation for cleanup, which must not fail. If there is no file descriptor for its limit,
   --  it has none. It waits until a Cancel in progress ends, and ignores the outcome. If one is
   --  still in progress when a limit of the connection is over, the connection is lost.

   type Suspension (Of_Work : not null access Operation) is limited private;
   --  Suspends the operation's limit until the end of its scope, where the limit starts again: for
   --  the program's own work during an operation

   function Limit_Of (On : Connection'Class) return Duration;
   --  Its Wait_Limit, or the time that is left for a retried call if that is less; 0.0 is no limit

   function Overdue return String;
   --  A text such as "no answer within 1.000 s: " if the operation of this task was cut off, or ""

   type Cancellation (On : not null access constant Connection'Class) is limited private;
   --  No operation of the session begins before the end of its scope

   function Has_Target (Self : Cancellation) return Boolean;
   --  True if an operation of an open session is in progress

   procedure Begin_Request (Self : in out Cancellation);
   procedure End_Request (Self : in out Cancellation);
   --  Between the two calls the server may act on the request at any time, and after End_Request it
   --  no longer can. If Self leaves its scope in between, the connection is lost.

   procedure End_Reading (Self : in out Cancellation);
   --  Close waits for this. The connection may be closed, opened again or finalized from here on.

   procedure Await_Cancels (On : Connection'Class; Deadline : Ada.Real_Time.Time);
   --  Waits until no Cancel is in progress. SQL_Error, 08006, and the connection is lost, if one
   --  still is at Deadline.

   procedure Begin_Session (On : in out Connection'Class);
   --  For the end of Open: from here on there is something to cancel

   procedure End_Session (On : in out Connection'Class);
   --  For Close: Cancels that are in progress do not reach the next session, and those that begin
   --  before it have no target

   procedure Leave_Gate (On : in out Connection'Class)
     with Post => On.Gate = null;
   --  For the end of the connection

   function Cancel_Timeout (On : Connection'Class) return Duration is
     (if On.Wait_Limit > 0.0 then On.Wait_Limit else 10.0);

private

   type Limit_Access is access all Time_Limit;

   type Time_Limit is new Ada.Finalization.Limited_Controlled with record
      Deadline : Ada.Real_Time.Time;
      On       : System.Address;
      Socket   : Integer := -1;
      --  A duplicate descriptor, since the library may close its own at any time
      Next     : Limit_Access;
      Is_Over  : Boolean := False with Atomic;
      --  True if the connection was cut off
   end record;

   overriding procedure Finalize (Self : in out Time_Limit);

   type Operation (On : not null access Connection'Class) is
     limited new Ada.Finalization.Limited_Controlled with record
      Limit    : Time_Limit;
      Length   : Duration := 0.0;
      Is_Outer : Boolean := False;
   end record;

   overriding procedure Initialize (Self : in out Operation);
   overriding procedure Finalize (Self : in out Operation);

   type Cleanup (On : not null access Connection'Class) is
     limited new Operation (On) with null record;

   overriding procedure Initialize (Self : in out Cleanup);

   type Suspension (Of_Work : not null access Operation) is
     limited new Ada.Finalization.Limited_Controlled with null record;

   overriding procedure Initialize (Self : in out Suspension);
   overriding procedure Finalize (Self : in out Suspension);

   type Count_Access is access all Cancel_Count;

   type Cancellation (On : not null access constant Connection'Class) is
     limited new Ada.Finalization.Limited_Controlled with record
      Gate          : Gate_Access;
      Readers       : Count_Access;
      --  The connection's, until End_Reading
      Is_Unfinished : Boolean := False;
   end record;

   overriding procedure Initialize (Self : in out Cancellation);
   overriding procedure Finalize (Self : in out Cancellation);

   function Has_Target (Self : Cancellation) return Boolean is
     (not Self.Gate.Is_Closed
      and then (Self.Gate.Is_Under_Way or else Self.Gate.Has_Stream));

end Appserver.SQL.Time_Limits;
