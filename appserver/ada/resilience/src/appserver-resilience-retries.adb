--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

pragma Ada_2022;

with Appserver.Resilience.Attempts;

package body Appserver.Resilience.Retries is

   use Ada.Exceptions;

   package Sequences is new Resilience.Attempts (Failure_Kind, Clock, Wait, Random);

   function Verdict_Of (Error : Exception_Occurrence) return Verdict is
     (if Is_Of_Guard (Error) then Verdict_Of_Guard (Error) else Classify (Error));

   procedure Run
     (By        : Policy;
      Operation : not null access procedure;
      Stop      : access Cancellation := null)
   is
      Sequence : Sequences.Attempt_Sequence (By.Budget, By.Listener);
      Found    : Verdict;
      Goes_On  : Boolean;
   begin
      Sequence.Start (By.Deadline);
      loop
         begin
            Operation.all;
            exit;
         exception
            when Error : others =>
               Found := Verdict_Of (Error);
               Sequence.Next
                 (Error,
                  Kind      => Found.Kind,
                  May_Retry =>
                    Sequence.Number < By.Attempts
                    and then (Found.Kind = Transient
                              or else (Found.Kind = Outcome_Unknown and then By.Idempotent)),
                  Bounds    => By.Bounds,
                  Stop      => Stop,
                  Goes_On   => Goes_On,
                  Min_Delay => Found.Min_Delay);
               if not Goes_On then
                  raise;
               end if;
         end;
      end loop;
      Sequence.Succeed;
   end Run;

end Appserver.Resilience.Retries;
