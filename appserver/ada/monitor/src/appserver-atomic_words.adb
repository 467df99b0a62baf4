--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

pragma Ada_2022;

with System;

package body Appserver.Atomic_Words is

   use type Interfaces.Unsigned_64;

   --  GCC's __ATOMIC_ orders

   Relaxed         : constant := 0;
   Acquire         : constant := 2;
   Release         : constant := 3;
   Acquire_Release : constant := 4;

   function Atomic_Load (Item : System.Address; Order : Integer) return Word
     with Import, Convention => Intrinsic, External_Name => "__atomic_load_8";

   procedure Atomic_Store (Item : System.Address; Value : Word; Order : Integer)
     with Import, Convention => Intrinsic, External_Name => "__atomic_store_8";

   function Fetch_Add (Item : System.Address; Amount : Word; Order : Integer) return Word
     with Import, Convention => Intrinsic, External_Name => "__atomic_fetch_add_8";

   function Exchanged
     (Item, Expected   : System.Address;
      Value            : Word;
      Weak             : Boolean;
      Success, Failure : Integer) return Boolean
     with Import, Convention => Intrinsic, External_Name => "__atomic_compare_exchange_8";

   function Load (Item : aliased Word) return Word is (Atomic_Load (Item'Address, Acquire));

   procedure Store (Item : aliased in out Word; Value : Word) is
   begin
      Atomic_Store (Item'Address, Value, Release);
   end Store;

   procedure Add (Item : aliased in out Word; Amount : Word) is
      Before : constant Word := Fetch_Add (Item'Address, Amount, Relaxed) with Unreferenced;
   begin
      null;
   end Add;

   procedure Replace
     (Item : aliased in out Word; Expected, By : Word; Is_Replaced : out Boolean)
   is
      Prior : aliased Word := Expected;
   begin
      Is_Replaced := Exchanged (Item'Address, Prior'Address, By, False, Acquire_Release, Acquire);
   end Replace;

   procedure Raise_To (Item : aliased in out Word; Value : Word) is
      Before  : Word := Load (Item);
      Is_Done : Boolean;
   begin
      while Before < Value loop
         Replace (Item, Before, Value, Is_Done);
         exit when Is_Done;
         Before := Load (Item);
      end loop;
   end Raise_To;

end Appserver.Atomic_Words;
