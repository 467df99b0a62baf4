--  SPDX-License-Identifier: Apache-2.0

with Ada.Strings.Fixed;
with Ada.Strings.Unbounded;
with Interfaces.C;

package body Benchlab.Latencies is

   use type Kernel.Nanoseconds;

   --  Counts the leading zero bits, with one instruction (a GCC built-in)

   function Leading_Zeros (Value : Interfaces.Unsigned_64) return Interfaces.C.int
     with Import, Convention => Intrinsic, External_Name => "__builtin_clzll";

   Sub_Bucket_Bits : constant := 6;

   function Bucket_Of (Latency : Kernel.Nanoseconds) return Bucket is
      Value  : constant Interfaces.Unsigned_64 := Interfaces.Unsigned_64 (Latency);
      Excess : Natural;
   begin
      if Value < 2 ** Sub_Bucket_Bits then
         return Bucket (Value);
      end if;
      Excess := 64 - Sub_Bucket_Bits - Natural (Leading_Zeros (Value));
      return Bucket (Excess) * 2 ** (Sub_Bucket_Bits - 1)
        + Bucket (Interfaces.Shift_Right (Value, Excess));
   end Bucket_Of;

   procedure Start (Self : in out Recorder) is
   begin
      Self.Counts := [others => 0];
      Self.First  := Kernel.Monotonic_Time;
      Self.Last   := Self.First;
   end Start;

   procedure Lap (Self : in out Recorder) is
      Now   : constant Kernel.Nanoseconds := Kernel.Monotonic_Time;
      Count : Interfaces.Unsigned_64 renames Self.Counts (Bucket_Of (Now - Self.Last));
   begin
      Count     := @ + 1;
      Self.Last := Now;
   end Lap;

   procedure Await (Self : in out Recorder; Due : Kernel.Nanoseconds) is
      Time : constant Kernel.Nanoseconds := Self.First + Due;
      Now  : Kernel.Nanoseconds := Kernel.Monotonic_Time;
   begin
      while Now < Time loop
         delay Duration'Fixed_Value (Time - Now);
         Now := Kernel.Monotonic_Time;
      end loop;
      Self.Last := Time;
   end Await;

   procedure Finish (Self : in out Recorder) is
   begin
      if Self.Last = Self.First then
         Self.Last := Kernel.Monotonic_Time;
      end if;
   end Finish;

   procedure Add (Self : in out Recorder; Other : Recorder) is
   begin
      Self.First := Kernel.Nanoseconds'Min (Self.First, Other.First);
      Self.Last  := Kernel.Nanoseconds'Max (Self.Last, Other.Last);
      for I in Bucket loop
         Self.Counts (I) := @ + Other.Counts (I);
      end loop;
   end Add;

   function Operations (Self : Recorder) return Interfaces.Unsigned_64 is
   begin
      return Sum : Interfaces.Unsigned_64 := 0 do
         for Count of Self.Counts loop
            Sum := Sum + Count;
         end loop;
      end return;
   end Operations;

   function Image (Self : Recorder) return String is
      use Ada.Strings;
      use Ada.Strings.Unbounded;

      Result : Unbounded_String;
   begin
      for I in Bucket loop
         if Self.Counts (I) > 0 then
            Append
              (Result,
               (if Length (Result) = 0 then "" else ",")
               & Fixed.Trim (I'Image, Left) & ":" & Fixed.Trim (Self.Counts (I)'Image, Left));
         end if;
      end loop;
      return To_String (Result);
   end Image;

end Benchlab.Latencies;
