--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Retries a call, with a clock and random numbers that tests can replace.

pragma Ada_2022;

with Ada.Real_Time;

generic
   with function Clock return Ada.Real_Time.Time;

   with procedure Wait (Time : Pause; Stop : access Cancellation);
   --  Waits for Time seconds, or until Stop is canceled

   with function Random return Float;
   --  Returns a random number of at least 0.0 and less than 1.0

package Appserver.Retry.Loops is

   procedure Run
     (By        : Policy;
      Has_Key   : Boolean;
      Operation : not null access procedure;
      Stop      : access Cancellation := null);

end Appserver.Retry.Loops;
