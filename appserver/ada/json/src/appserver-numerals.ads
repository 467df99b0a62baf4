--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Formats and parses numbers as in JSON (RFC 8259, section 6), without heap memory.

pragma Ada_2022;

with Appserver.Text_Sinks;
with Interfaces;

private package Appserver.Numerals is

   pragma Assertion_Policy (Pre => Check, Pre'Class => Check);

   use type Interfaces.Integer_64;

   subtype Integer_64 is Interfaces.Integer_64;

   procedure Append (To : in out Text_Sinks.Text_Sink'Class; Value : Integer_64);

   procedure Append (To : in out Text_Sinks.Text_Sink'Class; Value : Long_Float)
     with Pre => Value'Valid;
   --  Appends the shortest text that a parser converts back to the same value, such as 12.5 or
   --  1e+300

   type Outcome is (Converted, Not_Whole, Too_Large);

   procedure Convert (Numeral : String; Value : out Integer_64; Result : out Outcome);
   --  Parses decimal digits with an optional minus sign. Result is Not_Whole for any other text.
   --  Value is 0 if Result is not Converted.

   Max_Fraction_Length : constant := 1_000;

   procedure Convert (Numeral : String; Value : out Long_Float; Result : out Outcome);
   --  Converts a JSON number with any number of digits to the nearest floating-point value. Result
   --  is Too_Large if the number is out of range, or if Numeral has more than Max_Fraction_Length
   --  characters.

end Appserver.Numerals;
