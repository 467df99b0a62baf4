--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

pragma Ada_2022;

with Appserver.Counters.Words;

package body Appserver.Counters.Atomic is

   use type Integer_64;
   use Words;

   overriding procedure Increment (Self : in out Counter) is
   begin
      Words.Add (Self.Total.Word, 1);
   end Increment;

   overriding procedure Decrement (Self : in out Counter) is
   begin
      Words.Add (Self.Total.Word, -1);
   end Decrement;

   overriding procedure Add (Self : in out Counter; Amount : Integer_64) is
   begin
      Words.Add (Self.Total.Word, Amount);
   end Add;

   overriding procedure Set (Self : in out Counter; To : Integer_64) is
   begin
      Self.Total.Word := To_Word (To);
   end Set;

   overriding function Fetch_And_Add
     (Self : in out Counter; Amount : Integer_64) return Integer_64 is
     (To_Integer (Arithmetic.Atomic_Fetch_And_Add (Self.Total.Word, To_Word (Amount))));

   overriding procedure Compare_And_Set
     (Self     : in out Counter;
      Expected : Integer_64;
      To       : Integer_64;
      Is_Set   : out Boolean)
   is
      Prior : aliased Word := To_Word (Expected);
   begin
      Is_Set := Exchange.Atomic_Compare_And_Exchange (Self.Total.Word, Prior, To_Word (To));
   end Compare_And_Set;

   overriding function Decrement_And_Test_Zero (Self : in out Counter) return Boolean is
     (Arithmetic.Atomic_Fetch_And_Subtract (Self.Total.Word, 1) = 1);

end Appserver.Counters.Atomic;
