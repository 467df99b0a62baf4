--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

with Interfaces.C;
with System;

package body Counted_Heap is

   use Interfaces.C;
   use System;

   Count : Natural := 0;

   function Calls return Natural is (Count);

   ---------------------------
   -- Replacement functions --
   ---------------------------

   function Allocate (Size : size_t) return Address
     with Export, Convention => C, External_Name => "__wrap_malloc";

   function Allocate_Cleared (Number, Size : size_t) return Address
     with Export, Convention => C, External_Name => "__wrap_calloc";

   function Reallocate (Old : Address; Size : size_t) return Address
     with Export, Convention => C, External_Name => "__wrap_realloc";

   function Allocate_On (Alignment, Size : size_t) return Address
     with Export, Convention => C, External_Name => "__wrap_memalign";

   function Allocate_Aligned (Alignment, Size : size_t) return Address
     with Export, Convention => C, External_Name => "__wrap_aligned_alloc";

   ------------------------
   -- Replaced functions --
   ------------------------

   function Malloc (Size : size_t) return Address
     with Import, Convention => C, External_Name => "__real_malloc";

   function Calloc (Number, Size : size_t) return Address
     with Import, Convention => C, External_Name => "__real_calloc";

   function Realloc (Old : Address; Size : size_t) return Address
     with Import, Convention => C, External_Name => "__real_realloc";

   function Memalign (Alignment, Size : size_t) return Address
     with Import, Convention => C, External_Name => "__real_memalign";

   function Aligned_Alloc (Alignment, Size : size_t) return Address
     with Import, Convention => C, External_Name => "__real_aligned_alloc";

   --------------
   -- Counting --
   --------------

   function Allocate (Size : size_t) return Address is
   begin
      Count := Count + 1;
      return Malloc (Size);
   end Allocate;

   function Allocate_Cleared (Number, Size : size_t) return Address is
   begin
      Count := Count + 1;
      return Calloc (Number, Size);
   end Allocate_Cleared;

   function Reallocate (Old : Address; Size : size_t) return Address is
   begin
      Count := Count + 1;
      return Realloc (Old, Size);
   end Reallocate;

   function Allocate_On (Alignment, Size : size_t) return Address is
   begin
      Count := Count + 1;
      return Memalign (Alignment, Size);
   end Allocate_On;

   function Allocate_Aligned (Alignment, Size : size_t) return Address is
   begin
      Count := Count + 1;
      return Aligned_Alloc (Alignment, Size);
   end Allocate_Aligned;

end Counted_Heap;
