--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

pragma Ada_2022;

with Interfaces.C;
with System;

package body Appserver.Numerals is

   use Interfaces;
   use type Interfaces.C.size_t;

   subtype Decimal_Digit is Character range '0' .. '9';

   function Digit_Of (C : Decimal_Digit) return Unsigned_64 is
     (Character'Pos (C) - Character'Pos ('0')) with Inline;

   function Magnitude (Value : Integer_64) return Unsigned_64 is
     (if Value < 0 then Unsigned_64 (-(Value + 1)) + 1 else Unsigned_64 (Value));

   -------------
   -- Writing --
   -------------

   subtype Figure is String (1 .. 20);
   --  Room for a 64-bit number

   --  Writes Value right-aligned to Into (First .. Into'Last), with at least Places digits

   procedure Write
     (Value : Unsigned_64; Places : Positive; Into : out Figure; First : out Positive)
   is
      Rest : Unsigned_64 := Value;
   begin
      First := Into'Last + 1;
      loop
         First := First - 1;
         Into (First) := Character'Val (Character'Pos ('0') + Rest mod 10);
         Rest := Rest / 10;
         exit when Rest = 0 and then Into'Last - First + 1 >= Places;
      end loop;
   end Write;

   procedure Append (To : in out Text_Sinks.Text_Sink'Class; Value : Integer_64) is
      Text  : Figure;
      First : Positive;
   begin
      Write (Magnitude (Value), 1, Text, First);
      if Value < 0 then
         First := First - 1;
         Text (First) := '-';
      end if;
      To.Append (Text (First .. Text'Last));
   end Append;

   --  The C library's conversions are exact in both directions. strfromd(3) is available since
   --  glibc 2.25.

   function Strtod (Text : C.char_array; Stop : System.Address) return Long_Float
     with Import, Convention => C, External_Name => "strtod";

   function Strfromd
     (Text : out C.char_array; Size : C.size_t; Format : C.char_array; Value : Long_Float)
      return C.int
     with Import, Convention => C, External_Name => "strfromd";

   --  A value that is too large becomes an infinity, so validity checks must not reject it before
   --  the test

   procedure Convert_Exactly (Numeral : String; Value : out Long_Float; Fits : out Boolean) is
      pragma Suppress (Validity_Check);

      Copy : C.char_array (1 .. Numeral'Length + 1);
   begin
      for K in Copy'First .. Copy'Last - 1 loop
         Copy (K) := C.To_C (Numeral (Numeral'First + Natural (K) - 1));
      end loop;
      Copy (Copy'Last) := C.nul;
      Value := Strtod (Copy, System.Null_Address);
      Fits  := Value'Valid;
      if not Fits then
         Value := 0.0;
      end if;
   end Convert_Exactly;

   --  17 digits are enough for every value, and 15 for values that come from a short decimal

   procedure Append_Exactly (To : in out Text_Sinks.Text_Sink'Class; Value : Long_Float) is
      Formats : constant array (1 .. 3) of C.char_array (1 .. 6) :=
        [C.To_C ("%.15g"), C.To_C ("%.16g"), C.To_C ("%.17g")];
      Image   : C.char_array (1 .. 32);
      Text    : String (1 .. 32);
      Last    : Natural := 0;
      Back    : Long_Float;
      Fits    : Boolean;
   begin
      for Format of Formats loop
         Last := Natural (Strfromd (Image, Image'Length, Format, Value));
         for K in 1 .. Last loop
            Text (K) := C.To_Ada (Image (C.size_t (K)));
         end loop;
         Convert_Exactly (Text (1 .. Last), Back, Fits);
         exit when Fits and then Back = Value;
      end loop;
      To.Append (Text (1 .. Last));
   end Append_Exactly;

   Whole_Limit : constant := 2.0 ** 53;
   --  All integers up to this limit can be represented as Long_Float

   Powers : constant array (0 .. 22) of Long_Float :=
     [1.0, 1.0e1, 1.0e2, 1.0e3, 1.0e4, 1.0e5, 1.0e6, 1.0e7, 1.0e8, 1.0e9, 1.0e10, 1.0e11, 1.0e12,
      1.0e13, 1.0e14, 1.0e15, 1.0e16, 1.0e17, 1.0e18, 1.0e19, 1.0e20, 1.0e21, 1.0e22];
   --  All of these are exact

   Short_Decimals : constant := 6;

   --  A value that is equal to an integer divided by a power of ten is written as this decimal. The
   --  division rounds correctly (Clinger, "How to read floating point numbers accurately", PLDI
   --  1990), so reading the decimal returns the same value. Prices and measurements are typical
   --  examples.

   procedure Append (To : in out Text_Sinks.Text_Sink'Class; Value : Long_Float) is
      Distance : constant Long_Float := abs Value;
      Scaled   : Long_Float;
      Text     : Figure;
      First    : Positive;
   begin
      for Decimals in 0 .. Short_Decimals loop
         Scaled := Distance * Powers (Decimals);
         exit when Scaled >= Whole_Limit;
         if Long_Float'Truncation (Scaled) = Scaled
           and then Scaled / Powers (Decimals) = Distance
         then
            Write (Unsigned_64 (Scaled), Decimals + 1, Text, First);
            if Value < 0.0 then
               To.Append ("-");
            end if;
            To.Append (Text (First .. Text'Last - Decimals));
            if Decimals > 0 then
               To.Append (".");
               To.Append (Text (Text'Last - Decimals + 1 .. Text'Last));
            end if;
            return;
         end if;
      end loop;
      Append_Exactly (To, Value);
   end Append;

   -------------
   -- Reading --
   -------------

   procedure Convert (Numeral : String; Value : out Integer_64; Result : out Outcome) is
      Signs : constant Natural :=
        Boolean'Pos (Numeral'Length > 0 and then Numeral (Numeral'First) = '-');
      Limit : constant Unsigned_64 := 2 ** 63 - 1 + Unsigned_64 (Signs);
      Sum   : Unsigned_64 := 0;
   begin
      Value  := 0;
      Result := Not_Whole;
      if Numeral'Length = Signs then
         return;
      end if;
      for C of Numeral (Numeral'First + Signs .. Numeral'Last) loop
         if C not in Decimal_Digit then
            return;
         elsif Sum > (Limit - Digit_Of (C)) / 10 then
            Result := Too_Large;
            return;
         end if;
         Sum := Sum * 10 + Digit_Of (C);
      end loop;
      Value  := (if Signs = 0 then Integer_64 (Sum)
                 elsif Sum = 0 then 0
                 else -Integer_64 (Sum - 1) - 1);
      Result := Converted;
   end Convert;

   --  Converts the digits and the exponent as integers, if they are small: one division or
   --  multiplication of two exact values then results in the nearest value (Clinger, as above)

   procedure Convert_Short (Numeral : String; Value : out Long_Float; Done : out Boolean) is
      Sum      : Unsigned_64 := 0;
      Decimals : Natural := 0;
      Point    : Boolean := False;
      Negative : Boolean := False;
   begin
      Value := 0.0;
      Done  := False;
      for C of Numeral loop
         case C is
            when '0' .. '9' =>
               Sum := Sum * 10 + Digit_Of (C);
               Decimals := Decimals + Boolean'Pos (Point);
               if Sum >= Unsigned_64 (Whole_Limit) or else Decimals > Powers'Last then
                  return;
               end if;
            when '.'    => Point := True;
            when '-'    => Negative := True;
            when others => return;
         end case;
      end loop;
      Value := Long_Float (Sum) / Powers (Decimals);
      if Negative then
         Value := -Value;
      end if;
      Done := True;
   end Convert_Short;

   procedure Convert (Numeral : String; Value : out Long_Float; Result : out Outcome) is
      Done : Boolean := False;
   begin
      Value := 0.0;
      if Numeral'Length <= Max_Fraction_Length then
         Convert_Short (Numeral, Value, Done);
         if not Done then
            Convert_Exactly (Numeral, Value, Done);
         end if;
      end if;
      Result := (if Done then Converted else Too_Large);
   end Convert;

end Appserver.Numerals;
