--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  How long each stress test runs: the program's second argument, in seconds; 1 without one.

package Stress_Time is

   procedure Repeat (Round : not null access procedure);
   --  Once, and again until the time is over

end Stress_Time;
