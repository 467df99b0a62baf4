--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

pragma Ada_2022;

package body Appserver.Resilience.Attempts is

   use Ada.Exceptions;
   use Ada.Real_Time;

   procedure Start
     (Self : in out Attempt_Sequence; Deadline : Pause; Timeout : Pause := No_Timeout) is
   begin
      Self.Deadline := Deadline;
      Self.Timeout  := Timeout;
      Self.Started  := Clock;
      Self.Count    := 1;
      if Self.Budget /= null then
         Earn (Self.Budget.all);
      end if;
   end Start;

   function Elapsed (Self : Attempt_Sequence) return Duration is
     (To_Duration (Clock - Self.Started));

   function Is_Cancelled (Stop : access Cancellation) return Boolean is
     (Stop /= null and then Stop.Is_Cancelled);

   procedure Note_Retry
     (Self : Attempt_Sequence; Error : Exception_Occurrence; Kind : Fault; Time : Pause) is
   begin
      if Self.Listener /= null then
         Self.Listener.On_Retry ((Self.Count, Elapsed (Self)), Kind'Image, Error, Time);
      end if;
   exception
      when others => null;
   end Note_Retry;

   procedure Note_Failure (Self : Attempt_Sequence; Error : Exception_Occurrence; Kind : Fault) is
   begin
      if Self.Listener /= null then
         Self.Listener.On_Failure ((Self.Count, Elapsed (Self)), Kind'Image, Error);
      end if;
   exception
      when others => null;
   end Note_Failure;

   procedure Succeed (Self : Attempt_Sequence) is
   begin
      if Self.Listener /= null then
         Self.Listener.On_Success (Self.Count);
      end if;
   exception
      when others => null;
   end Succeed;

   --  Pauses before a retry. If no further attempt is possible, sets Goes_On to False, and omits or
   --  ends the pause.

   procedure Pause_Before_Retry
     (Self    : Attempt_Sequence;
      Error   : Exception_Occurrence;
      Kind    : Fault;
      Time    : Pause;
      Stop    : access Cancellation;
      Goes_On : out Boolean) is
   begin
      Goes_On := not Is_Cancelled (Stop)
        and then Time <= Self.Deadline - Elapsed (Self)
        and then (Self.Timeout = No_Timeout or else Time < Self.Timeout - Elapsed (Self));
      if Goes_On and then Self.Budget /= null then
         Spend (Self.Budget.all, Goes_On);
      end if;
      if Goes_On then
         Note_Retry (Self, Error, Kind, Time);
         Wait (Time, Stop);
         Goes_On := not Is_Cancelled (Stop);
      end if;
   end Pause_Before_Retry;

   procedure Next
     (Self      : in out Attempt_Sequence;
      Error     : Exception_Occurrence;
      Kind      : Fault;
      May_Retry : Boolean;
      Bounds    : Backoff;
      Stop      : access Cancellation;
      Goes_On   : out Boolean;
      Min_Delay : Pause := 0.0) is
   begin
      Goes_On := May_Retry;
      if Goes_On then
         Pause_Before_Retry
           (Self, Error, Kind,
            Pause'Max (Min_Delay, Delay_Before (Self.Count, Bounds, Random)),
            Stop, Goes_On);
      end if;
      if Goes_On then
         Self.Count := Self.Count + 1;
      else
         Note_Failure (Self, Error, Kind);
      end if;
   end Next;

end Appserver.Resilience.Attempts;
