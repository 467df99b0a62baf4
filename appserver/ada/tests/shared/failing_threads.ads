--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Makes the creation of threads, and so of tasks, fail when a test requests it. The program must
--  be linked with the shared C library.

package Failing_Threads is

   procedure Allow_Threads (Count : Natural);
   --  Lets the program create Count more threads. After that, the creation of a thread fails.

   procedure Allow_All_Threads;

   function Failures return Natural;
   --  Returns the number of failed creations since the last Allow_Threads

end Failing_Threads;
