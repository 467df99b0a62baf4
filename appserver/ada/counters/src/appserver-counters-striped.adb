--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

pragma Ada_2022;

with Appserver.Counters.Words;

package body Appserver.Counters.Striped is

   use Interfaces;
   use Words;

   --  Threads are numbered consecutively, so the threads of one pool have different stripes

   Threads : aliased Word := 0;

   Unnumbered : constant Unsigned_32 := Unsigned_32'Last;

   Thread : Unsigned_32 := Unnumbered with Thread_Local_Storage;

   function New_Number return Unsigned_32
     with No_Inline;

   function New_Number return Unsigned_32 is
   begin
      Thread := Unsigned_32 (Arithmetic.Atomic_Fetch_And_Add (Threads, 1) mod Max_Stripes);
      return Thread;
   end New_Number;

   --  Uses a mask, since a division would cost more than the addition

   function Stripe (Self : Counter) return Positive is
     (1 + Natural
        ((if Thread = Unnumbered then New_Number else Thread) and Unsigned_32 (Self.Stripes - 1)))
     with Inline;

   overriding procedure Increment (Self : in out Counter) is
   begin
      Add (Self, 1);
   end Increment;

   overriding procedure Decrement (Self : in out Counter) is
   begin
      Add (Self, -1);
   end Decrement;

   overriding procedure Add (Self : in out Counter; Amount : Integer_64) is
   begin
      Words.Add (Self.Totals (Stripe (Self)).Word, Amount);
   end Add;

   overriding function Value (Self : Counter) return Integer_64 is
      Sum : Unsigned_64 := 0; --  not Word: each assignment would be an atomic exchange
   begin
      for Total of Self.Totals loop
         Sum := Sum + Unsigned_64 (Total.Word);
      end loop;
      return To_Integer (Word (Sum));
   end Value;

end Appserver.Counters.Striped;
