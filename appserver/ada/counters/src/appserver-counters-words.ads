--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Ada's atomic operations on the counters' words. All of them are sequentially consistent: they
--  order what is around them, which costs nothing more on x86-64 and little on ARM.

pragma Ada_2022;

with System.Atomic_Operations.Exchange;
with System.Atomic_Operations.Modular_Arithmetic;

private package Appserver.Counters.Words with Pure is

   package Arithmetic is new System.Atomic_Operations.Modular_Arithmetic (Word);
   package Exchange is new System.Atomic_Operations.Exchange (Word);

   procedure Add (Item : aliased in out Word; Amount : Integer_64) with Inline;
   --  Does what Arithmetic.Atomic_Add does, in one instruction. GNAT's version stores the previous
   --  value in a variable that is atomic as well.

end Appserver.Counters.Words;
