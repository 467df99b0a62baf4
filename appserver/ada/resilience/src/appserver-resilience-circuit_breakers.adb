--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

pragma Ada_2022;

with Ada.Finalization;

package body Appserver.Resilience.Circuit_Breakers is

   use Ada.Exceptions;
   use Ada.Real_Time;
   use type Counters.Integer_64;

   -------------
   -- Machine --
   -------------

   protected body Machine is

      procedure Enter (To : Breaker_State; Now : Time) is
      begin
         Current   := Current + 1;
         State     := To;
         Since     := Now;
         Running   := 0;
         Succeeded := 0;
         case To is
            when Closed =>
               Next    := 1;
               Results := 0;
               Failed  := 0;
            when Open =>
               Opened := Opened + 1;
            when Half_Open =>
               null;
         end case;
      end Enter;

      procedure Admit_Trial
        (Now      : Time;
         By       : Settings;
         Admitted : out Boolean;
         Left     : out Time_Span) is
      begin
         Left     := By.Open_Time - (Now - Since);
         Admitted :=
           (State = Half_Open and then Running < By.Trials) or else Left <= Time_Span_Zero;
         if not Admitted then
            Rejected := Rejected + 1;
            if State = Half_Open then
               Left := Time_Span_Zero;
            end if;
            return;
         end if;
         --  If all trials hang, the half-open state begins again

         if State = Open or else Running >= By.Trials then
            Enter (Half_Open, Now);
         end if;
         Running := Running + 1;
         Since   := Now;
      end Admit_Trial;

      procedure Admit
        (Now        : Time;
         By         : Settings;
         Generation : out Generation_Number;
         Admitted   : out Boolean;
         Left       : out Time_Span;
         Change     : out Transition) is
      begin
         Change.From := State;
         Admitted    := True;
         Left        := Time_Span_Zero;
         if State /= Closed then
            Admit_Trial (Now, By, Admitted, Left);
         end if;
         Change.To  := State;
         Generation := Current;
      end Admit;

      procedure Note (Is_Failure : Boolean; Now : Time; By : Settings) is
      begin
         if Results < Window then
            Results := Results + 1;
         elsif Failures (Next) then
            Failed := Failed - 1;
         end if;
         Failures (Next) := Is_Failure;
         if Is_Failure then
            Failed := Failed + 1;
         end if;
         Next := (if Next = Window then 1 else Next + 1);
         if Results >= Positive'Min (By.Min_Calls, Window)
           and then 100 * Failed >= By.Failure_Percent * Results
         then
            Enter (Open, Now);
         end if;
      end Note;

      procedure Finish_Trial (Result : Call_Result; Now : Time; By : Settings) is
      begin
         case Result is
            when None =>
               Running := Running - 1;
            when Failure =>
               Enter (Open, Now);
            when Success =>
               Succeeded := Succeeded + 1;
               if Succeeded >= By.Trials then
                  Enter (Closed, Now);
               end if;
         end case;
      end Finish_Trial;

      procedure Finish
        (Now        : Time;
         By         : Settings;
         Generation : Generation_Number;
         Result     : Call_Result;
         Change     : out Transition) is
      begin
         Change := (State, State);
         if Generation /= Current then
            return;
         elsif State /= Closed then
            Finish_Trial (Result, Now, By);
         elsif Result /= None then
            Note (Result = Failure, Now, By);
         end if;
         Change.To := State;
      end Finish;

      procedure Close (Now : Time; Change : out Transition) is
      begin
         Change := (State, Closed);
         Enter (Closed, Now);
      end Close;

      function Statistics return Breaker_Statistics is
        (State, Results, Failed, Rejected, Opened);

   end Machine;

   ----------------------
   -- Circuit_Breaker  --
   ----------------------

   function Settings_Of (Self : Circuit_Breaker'Class) return Settings is
     (Self.Min_Calls, Self.Failure_Percent, To_Time_Span (Self.Open_Time), Self.Trials);

   procedure Tell (Self : in out Circuit_Breaker'Class; Change : Transition) is
   begin
      if Change.From /= Change.To then
         Self.On_Transition (Change.From, Change.To);
      end if;
   exception
      when others => null;
   end Tell;

   function Statistics (Self : Circuit_Breaker) return Breaker_Statistics is
     (Self.Shared.Machine.Statistics);

   function Is_Recorded
     (Self : Circuit_Breaker; Error : Exception_Occurrence) return Boolean is
     (not Is_Rejection (Error));

   procedure Reset (Self : in out Circuit_Breaker) is
      Change : Transition;
   begin
      Self.Shared.Machine.Close (Now (Circuit_Breaker'Class (Self)), Change);
      Tell (Self, Change);
   end Reset;

   --  An admitted call. If the call ends with an abort, or if Is_Recorded raises an exception, the
   --  call has no result, and does not count as a trial.

   type Admitted_Call (Breaker : not null access Circuit_Breaker'Class) is
     new Ada.Finalization.Limited_Controlled with record
      Is_Admitted : Boolean := False;
      Generation  : Generation_Number := 0;
      Left        : Time_Span := Time_Span_Zero;
   end record;

   overriding procedure Initialize (Self : in out Admitted_Call);
   overriding procedure Finalize (Self : in out Admitted_Call);
   procedure Finish (Self : in out Admitted_Call'Class; Result : Call_Result);

   --  An abort cannot separate the admission from its record

   overriding procedure Initialize (Self : in out Admitted_Call) is
      Change : Transition;
   begin
      Self.Breaker.Shared.Machine.Admit
        (Self.Breaker.Now, Settings_Of (Self.Breaker.all),
         Self.Generation, Self.Is_Admitted, Self.Left, Change);
      Tell (Self.Breaker.all, Change);
   end Initialize;

   procedure Finish (Self : in out Admitted_Call'Class; Result : Call_Result) is
      Change : Transition;
   begin
      Self.Breaker.Shared.Machine.Finish
        (Self.Breaker.Now, Settings_Of (Self.Breaker.all), Self.Generation, Result, Change);
      Self.Is_Admitted := False;
      Tell (Self.Breaker.all, Change);
   end Finish;

   overriding procedure Finalize (Self : in out Admitted_Call) is
   begin
      if Self.Is_Admitted then
         Finish (Self, None);
      end if;
   end Finalize;

   procedure Run
     (Self : in out Circuit_Breaker'Class; Operation : not null access procedure)
   is
      Call : Admitted_Call (Self'Access);
   begin
      if not Call.Is_Admitted then
         raise Circuit_Open_Error with
           "the circuit breaker is open; the next call is admitted in"
           & To_Duration (Call.Left)'Image & " s";
      end if;
      Operation.all;
      Finish (Call, Success);
   exception
      when Error : others =>
         if Call.Is_Admitted then
            Finish (Call, (if Self.Is_Recorded (Error) then Failure else None));
         end if;
         raise;
   end Run;

end Appserver.Resilience.Circuit_Breakers;
