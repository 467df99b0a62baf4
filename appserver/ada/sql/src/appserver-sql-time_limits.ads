--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Timeouts for calls that wait for a server. At the deadline, the socket of the connection is shut
--  down. So the call fails, even if the database's library is waiting without a timeout.
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
   --  Sets a deadline for the connection, until Self leaves its scope. At Deadline, the connection
   --  is shut down, and a call that waits for the server raises SQL_Error 08006. Has no effect for
   --  a database without a server. Raises SQL_Error 53000 if no file descriptor is available to
   --  duplicate the socket.

   procedure Start_Or_Cut_Off
     (Self     : in out Time_Limit;
      On       : SQL.Connection'Class;
      Deadline : Ada.Real_Time.Time);
   --  Sets a deadline like Start, for closing a connection. If no file descriptor is available,
   --  shuts down the connection immediately.

   type Operation (On : not null access Connection'Class) is limited private;
   --  An operation in progress. From the declaration of this object to the end of its scope, the
   --  connection's Wait_Limit applies, and Cancel can stop the operation. The declaration waits for
   --  a Cancel in progress, and raises SQL_Error 08006 if the outcome of a Cancel is unknown. An
   --  Operation nested in another Operation of the same connection has no effect.

   type Cleanup (On : not null access Connection'Class) is limited private;
   --  An Operation for cleanup, whose declaration does not raise exceptions. If no file descriptor
   --  is available, the cleanup has no time limit. The declaration waits for a Cancel in progress,
   --  and ignores the outcome. If a Cancel is still in progress when a time limit of the connection
   --  expires, the connection is lost.

   type Suspension (Of_Work : not null access Operation) is limited private;
   --  An object that suspends the time limit of Of_Work until the end of its scope, while
   --  application code runs. At the end of the scope, the time limit starts again.

   function Limit_Of (On : Connection'Class) return Duration;
   --  Returns the connection's Wait_Limit, or the remaining time of the task's retried call if this
   --  time is less. 0.0 means no limit.

   function Overdue return String;
   --  Returns a prefix for error messages, such as "no response within 1.000 s: ", if a time limit
   --  has ended this task's operation, otherwise ""

   type Cancellation (On : not null access constant Connection'Class) is limited private;
   --  A Cancel in progress. No operation of the session begins before the end of this object's
   --  scope.

   function Has_Target (Self : Cancellation) return Boolean;
   --  Returns True if an operation of an open session is in progress

   procedure Begin_Request (Self : in out Cancellation);
   procedure End_Request (Self : in out Cancellation);
   --  Begin and end the period in which the server may process the cancel request. If Self leaves
   --  its scope during this period, the connection is lost.

   procedure End_Reading (Self : in out Cancellation);
   --  Ends the access of Cancel to the connection object. Close waits for this call, after which
   --  the connection may be closed, opened again or finalized.

   procedure Await_Cancels (On : Connection'Class; Deadline : Ada.Real_Time.Time);
   --  Waits until no Cancel is in progress. If a Cancel is still in progress at Deadline, the
   --  connection is lost, and SQL_Error 08006 is raised.

   procedure Begin_Session (On : in out Connection'Class);
   --  Begins a session, in which Cancel can stop operations. Called at the end of Open.

   procedure End_Session (On : in out Connection'Class);
   --  Ends a session. Called by Close. A Cancel in progress does not affect the next session, and a
   --  Cancel that begins before the next session has no effect.

   procedure Leave_Gate (On : in out Connection'Class)
     with Post => On.Gate = null;
   --  Releases the connection's gate. Called when the connection is finalized.

   function Cancel_Timeout (On : Connection'Class) return Duration is
     (if On.Wait_Limit > 0.0 then On.Wait_Limit else 10.0);

private

   type Limit_Access is access all Time_Limit;

   type Time_Limit is new Ada.Finalization.Limited_Controlled with record
      Deadline : Ada.Real_Time.Time;
      On       : System.Address;
      Socket   : Integer := -1;
      --  A duplicate of the socket's descriptor, since the database library may close its own
      --  descriptor at any time
      Next     : Limit_Access;
      Is_Over  : Boolean := False with Atomic;
      --  True if a time limit has shut down the connection
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
      --  A reference to the connection's component Readers; null after End_Reading
      Is_Unfinished : Boolean := False;
   end record;

   overriding procedure Initialize (Self : in out Cancellation);
   overriding procedure Finalize (Self : in out Cancellation);

   function Has_Target (Self : Cancellation) return Boolean is
     (not Self.Gate.Is_Closed
      and then (Self.Gate.Is_Under_Way or else Self.Gate.Has_Stream));

end Appserver.SQL.Time_Limits;
