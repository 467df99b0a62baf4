--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Starts programs that hang in execve or chdir, because the kernel suspends these calls until this
--  program responds

package Held_Starts is

   Unexpected : exception;

   procedure Test;
   --  Tests process starts that hang. Raises Unexpected if a start does not end in time, or leaks
   --  resources.

end Held_Starts;
