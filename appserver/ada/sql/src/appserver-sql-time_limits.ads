--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Time limits for waiting for a server: a connection whose server is silent is cut off, so that
--  the call that waits fails. So the limit covers everything that the database's library does.
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

   procedure Start_Or_Cut_Off
     (Self     : in out Time_Limit;
      On       : SQL.Connection'Class;
      Deadline : Ada.Real_Time.Time);
   --  The same, but without a file descriptor the connection is lost at once: for closing it

   type Operation (On : not null access Connection'Class) is limited private;
   --  Until it leaves scope, its connection's Wait_Limit holds, from its declaration on, and Cancel
   --  has something to stop. It begins when no Cancel is under way. SQL_Error, 08006, if the
   --  outcome of one is unknown. Within another one of the same connection it does nothing.

   type Cleanup (On : not null access Connection'Class) is limited private;
   --  An Operation that goes on without a limit if there is no file descriptor for one, and that
   --  waits for a Cancel until its end, whatever its outcome: for what must not fail

   type Suspension (Of_Work : not null access Operation) is limited private;
   --  Until it leaves scope, the limit of the operation stands still; then it begins anew. For what
   --  the program does in between.

   function Limit_Of (On : Connection'Class) return Duration;
   --  Its Wait_Limit, or what is left of a retried call's time if that is less; 0.0 is no limit

   function Overdue return String;
   --  Such as "no answer within 1.000 s: ", if the operation of this task was cut off; else empty

   type Cancellation (On : not null access constant Connection'Class) is limited private;
   --  Until it leaves its scope, no operation of the session begins

   function Has_Target (Self : Cancellation) return Boolean;
   --  True if an operation is in progress

   procedure Begin_Request (Self : in out Cancellation);
   procedure End_Request (Self : in out Cancellation);
   --  From Begin_Request on the server may take the request at any time, and after End_Request not
   --  any more. If Self leaves scope in between, the connection is lost.

   procedure End_Reading (Self : in out Cancellation);
   --  Close waits for this. The connection may be closed, opened again or finalized from here on.

   procedure Await_Cancels (On : Connection'Class; Deadline : Ada.Real_Time.Time);
   --  Waits until no Cancel is in progress. SQL_Error, 08006, and the connection is lost, if one
   --  still is at Deadline.

   procedure End_Session (On : in out Connection'Class);
   --  For Close: Cancels that are in progress do not reach the next session

   procedure Leave_Gate (On : in out Connection'Class)
     with Post => On.Gate = null;
   --  For the end of the connection

   function Cancel_Timeout (On : Connection'Class) return Duration is
     (if On.Wait_Limit > 0.0 then On.Wait_Limit else 10.0);

private

   type Limit_Access is access all Time_Limit;

   type Time_Limit is new Ada.Finalization.Limited_Controlled with record
      Deadline : Ada.Real_Time.Time;
      Socket   : Integer := -1;
      --  A descriptor of its own: the library may close the other one at any time
      Next     : Limit_Access;
      Is_Over  : Boolean := False with Atomic;
      --  It was cut off
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
      Gate         : Gate_Access;
      Readers      : Count_Access;
      --  The connection's, until End_Reading
      Is_Unsettled : Boolean := False;
   end record;

   overriding procedure Initialize (Self : in out Cancellation);
   overriding procedure Finalize (Self : in out Cancellation);

   function Has_Target (Self : Cancellation) return Boolean is
     (Self.Gate.Is_Under_Way or else Self.Gate.Has_Stream);

end Appserver.SQL.Time_Limits;
