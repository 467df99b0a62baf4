--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

pragma Ada_2022;

with Interfaces.C;

package body Appserver.Thread_Clocks is

   use Atomic_Words;
   use Interfaces;

   type Time_Spec is record
      Seconds, Nanoseconds : Interfaces.C.long;
   end record
     with Convention => C;

   --  From linux/time.h

   Real_Time_Clock : constant := 0;
   Monotonic_Clock : constant := 1;
   Thread_Clock    : constant := 3;

   function Get_Time (Clock : Interfaces.C.int; Time : out Time_Spec) return Interfaces.C.int
     with Import, Convention => C, External_Name => "clock_gettime";

   function Time_Of (Clock : Interfaces.C.int) return Word with Inline;
   function Time_Of (Clock : Interfaces.C.int) return Word is
      Time    : Time_Spec;
      Ignored : constant Interfaces.C.int := Get_Time (Clock, Time) with Unreferenced;
   begin
      return Word (Time.Seconds) * 1_000_000_000 + Word (Time.Nanoseconds);
   end Time_Of;

   function Monotonic return Word is (Time_Of (Monotonic_Clock));

   function CPU_Time return Word is (Time_Of (Thread_Clock));

   function Unix_Milliseconds return Word is (Time_Of (Real_Time_Clock) / 1_000_000);

   --  Threads are numbered consecutively, so that the threads of one server have different stripes

   Threads    : aliased Word := 0;
   Unnumbered : constant Unsigned_32 := Unsigned_32'Last;
   Number     : Unsigned_32 := Unnumbered with Thread_Local_Storage;

   Next_Sample : Word := 0 with Thread_Local_Storage;
   --  A time of Monotonic

   Randomness : Word := 0 with Thread_Local_Storage;

   procedure Take_Number with No_Inline;
   procedure Take_Number is
   begin
      Atomic_Words.Add (Threads, 1);
      Number     := Unsigned_32 (Load (Threads) mod 2 ** 16);
      Randomness := Word (Number) * 16#9E37_79B9_7F4A_7C15# + 1;
   end Take_Number;

   function Stripe (Stripes : Positive) return Positive is
   begin
      if Number = Unnumbered then
         Take_Number;
      end if;
      return 1 + Natural (Number and Unsigned_32 (Stripes - 1));
   end Stripe;

   --  See Marsaglia, "Xorshift RNGs", 2003

   procedure Plan_Sample (Now : Word) with No_Inline;
   procedure Plan_Sample (Now : Word) is
   begin
      if Randomness = 0 then
         Take_Number;
      end if;
      Randomness  := Randomness xor Shift_Left (Randomness, 13);
      Randomness  := Randomness xor Shift_Right (Randomness, 7);
      Randomness  := Randomness xor Shift_Left (Randomness, 17);
      Next_Sample := Now + 2 ** 20 + (Randomness and (2 ** 20 - 1));
   end Plan_Sample;

   procedure Choose_Sample (Now : Word; Is_Chosen : out Boolean) is
   begin
      Is_Chosen := Now >= Next_Sample;
      if Is_Chosen then
         Plan_Sample (Now);
      end if;
   end Choose_Sample;

end Appserver.Thread_Clocks;
