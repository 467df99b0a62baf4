--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Counts the calls for memory of the heap, those of Ada's library too: the program's own malloc
--  goes before that of glibc.

package Counted_Memory is

   function Calls return Natural;
   --  Calls for memory by all tasks since the program began

end Counted_Memory;
