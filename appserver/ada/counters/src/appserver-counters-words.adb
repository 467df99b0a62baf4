--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

pragma Ada_2022;

with Ada.Unchecked_Conversion;
with Interfaces;
with System;

package body Appserver.Counters.Words is

   use Interfaces;

   function Fetch_Add
     (Item : System.Address; Amount : Unsigned_64; Order : Integer) return Unsigned_64
   with Import, Convention => Intrinsic, External_Name => "__atomic_fetch_add_8";

   Sequentially_Consistent : constant := 5;
   --  __ATOMIC_SEQ_CST of GCC

   function To_Unsigned is new Ada.Unchecked_Conversion (Integer_64, Unsigned_64);

   procedure Add (Item : aliased in out Word; Amount : Integer_64) is
      Before : constant Unsigned_64 :=
        Fetch_Add (Item'Address, To_Unsigned (Amount), Sequentially_Consistent) with Unreferenced;
   begin
      null;
   end Add;

end Appserver.Counters.Words;
