--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Counts the heap allocations of a program, which must be linked statically and with
--
--     -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=memalign,--wrap=aligned_alloc
--
--  which redirects all calls to this package, including those of Ada's run-time library and the C
--  library.

package Counted_Heap is

   function Calls return Natural;
   --  Returns the number of allocations so far, in a program with one task

end Counted_Heap;
