--  SPDX-License-Identifier: Apache-2.0

with Ada.Calendar.Formatting;
with Ada.Unchecked_Conversion;

package body SQL_Cases.Folds is

   use Interfaces;

   Epoch : constant Ada.Calendar.Time := Ada.Calendar.Formatting.Time_Of (1970, 1, 1);

   function Milliseconds (Moment : Ada.Calendar.Time) return Integer_64 is
      use type Ada.Calendar.Time;
   begin
      return Integer_64 (Duration'(Moment - Epoch) / Duration'(0.001));
   end Milliseconds;

   --  The first byte of a multi-byte character begins with the bits 2#110#, 2#1110# or 2#11110#,
   --  and each further byte with 2#10#.

   function Code_Points (Text : SQL.UTF_8_String) return Unsigned_64 is
      Sum  : Unsigned_64 := 0;
      Code : Unsigned_64 := 0;
      Byte : Unsigned_64;
   begin
      for C of Text loop
         Byte := Character'Pos (C);
         if Byte in 16#80# .. 16#BF# then
            Code := Shift_Left (Code, 6) or (Byte and 16#3F#);
         else
            Sum  := Sum + Code;
            Code :=
              (if Byte < 16#80# then Byte
               elsif Byte < 16#E0# then Byte and 16#1F#
               elsif Byte < 16#F0# then Byte and 16#0F#
               else Byte and 16#07#);
         end if;
      end loop;
      return Sum + Code;
   end Code_Points;

   function Bits (Number : Long_Float) return Unsigned_64 is
      function Converted is new Ada.Unchecked_Conversion (Long_Float, Unsigned_64);
   begin
      return Converted (Number);
   end Bits;

   function Bytes (Value : SQL.Blob) return Unsigned_64 is
      Sum : Unsigned_64 := 0;
   begin
      for Byte of Value loop
         Sum := Sum + Unsigned_64 (Byte);
      end loop;
      return Sum;
   end Bytes;

end SQL_Cases.Folds;
