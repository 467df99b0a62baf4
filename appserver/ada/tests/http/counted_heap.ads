--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  How often a program asks for memory of the heap. It has to be linked statically and with
--
--     -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=memalign,--wrap=aligned_alloc
--
--  which turns all calls, of Ada's run-time library and of the C library too, to this package.

package Counted_Heap is

   function Calls return Natural;
   --  Calls for memory so far, in a program with one task

end Counted_Heap;
