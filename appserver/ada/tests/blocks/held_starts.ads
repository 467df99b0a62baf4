--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Starts of programs that hang in execve or chdir, since the kernel holds these calls until this
--  program answers them

package Held_Starts is

   Unexpected : exception;

   procedure Test;
   --  Raises Unexpected if a start does not end in time, or leaves something behind

end Held_Starts;
