--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Numbers in text, as JSON writes them (RFC 8259, section 6), without the heap.

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
   --  With the fewest digits that are read back as the same value: 12.5, 1e+300

   type Outcome is (Converted, Not_Whole, Too_Large);

   procedure Convert (Numeral : String; Value : out Integer_64; Result : out Outcome);
   --  The value of decimal digits, with an optional minus sign. Not_Whole for any other text.
   --  Value is 0 if it was not Converted.

   Max_Fraction_Length : constant := 1_000;

   procedure Convert (Numeral : String; Value : out Long_Float; Result : out Outcome);
   --  The value nearest to a number of JSON, of any number of digits. Too_Large if there is none,
   --  or for a numeral of more than Max_Fraction_Length characters.

end Appserver.Numerals;
