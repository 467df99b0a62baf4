--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Counts heap allocations, including the allocations of the Ada library: the program's own malloc
--  replaces the malloc of glibc.

package Counted_Memory is

   function Calls return Natural;
   --  Returns the number of allocations by all tasks since the program started

end Counted_Memory;
