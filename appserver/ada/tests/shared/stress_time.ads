--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  The duration of each stress test: the program's second argument, in seconds; 1 by default.

package Stress_Time is

   procedure Repeat (Round : not null access procedure);
   --  Calls Round, at least once, and repeats the call until the stress time has passed

end Stress_Time;
