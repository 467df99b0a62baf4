--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Ada's atomic operations on the counters' words. All operations are sequentially consistent, so
--  they also order surrounding memory accesses. This order has no additional cost on x86-64, and a
--  small cost on ARM.

pragma Ada_2022;

with System.Atomic_Operations.Exchange;
with System.Atomic_Operations.Modular_Arithmetic;

private package Appserver.Counters.Words with Pure is

   package Arithmetic is new System.Atomic_Operations.Modular_Arithmetic (Word);
   package Exchange is new System.Atomic_Operations.Exchange (Word);

   procedure Add (Item : aliased in out Word; Amount : Integer_64) with Inline;
   --  Adds Amount atomically in one instruction. Arithmetic.Atomic_Add is slower, since GNAT's
   --  version also stores the previous value in another atomic variable.

end Appserver.Counters.Words;
