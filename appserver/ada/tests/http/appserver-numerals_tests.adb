--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

with Appserver.Numerals;
with Appserver.Text_Sinks;
with AUnit.Assertions;
with AUnit.Test_Caller;
with AUnit.Test_Fixtures;

package body Appserver.Numerals_Tests is

   use AUnit.Assertions;
   use type Numerals.Outcome;

   type Fixture is new AUnit.Test_Fixtures.Test_Fixture with null record;

   procedure Is_Too_Large (Numeral : String) is
      Value  : Long_Float := 1.0;
      Result : Numerals.Outcome;
   begin
      Numerals.Convert (Numeral, Value, Result);
      Assert (Result = Numerals.Too_Large, Numeral & ": " & Result'Image);
      Assert (Value = 0.0, Numeral & " left a value");
   end Is_Too_Large;

   procedure Is_Read (Numeral : String; Expected : Long_Float) is
      Value  : Long_Float;
      Result : Numerals.Outcome;
   begin
      Numerals.Convert (Numeral, Value, Result);
      Assert (Result = Numerals.Converted, Numeral & ": " & Result'Image);
      Assert (Value = Expected, Numeral & " is" & Value'Image);
   end Is_Read;

   --  A value that overflows is temporarily an infinity, which builds with all validity checks must
   --  accept

   procedure Overflow (T : in out Fixture) is
      pragma Unreferenced (T);
   begin
      Is_Too_Large ("1e309");
      Is_Too_Large ("-1e309");
      Is_Too_Large ("1.7976931348623159e308");
      Is_Too_Large ("1e999999999999999999999");
      Is_Too_Large ([1 .. 400 => '9']);
      Is_Read ("1.7976931348623157e308", Long_Float'Last);
      Is_Read ("-1.7976931348623157e308", Long_Float'First);
      Is_Read ("1e-400", 0.0);
      Is_Read ("5e-324", Long_Float'Model_Small * 2.0 ** (-52));
   end Overflow;

   procedure Lengths (T : in out Fixture) is
      pragma Unreferenced (T);

      function Zeros (Count : Natural) return String is ([1 .. Count => '0']);
   begin
      Is_Read ("1." & Zeros (Numerals.Max_Fraction_Length - 2), 1.0);
      Is_Too_Large ("1." & Zeros (Numerals.Max_Fraction_Length - 1));
      Is_Too_Large ("1." & Zeros (1_000_000));
   end Lengths;

   --  Written values are read back as the same values

   procedure Both_Ways (T : in out Fixture) is
      pragma Unreferenced (T);

      Values : constant array (Positive range <>) of Long_Float :=
        [0.0, 0.1, 0.1 + 0.2, 1.0 / 3.0, -12.5, 1.0e22, 1.0e23, 2.0 ** 53, 2.0 ** 63, 1.0e300,
         Long_Float'Last, Long_Float'First, Long_Float'Model_Small];
      Text   : Text_Sinks.Text_Buffer (64);
   begin
      for Value of Values loop
         Text.Clear;
         Numerals.Append (Text, Value);
         Is_Read (Text.Content, Value);
      end loop;
   end Both_Ways;

   package Caller is new AUnit.Test_Caller (Fixture);

   function Suite return AUnit.Test_Suites.Access_Test_Suite is
      Result : constant AUnit.Test_Suites.Access_Test_Suite := AUnit.Test_Suites.New_Suite;
   begin
      Result.Add_Test (Caller.Create ("numerals: overflow", Overflow'Access));
      Result.Add_Test (Caller.Create ("numerals: their length", Lengths'Access));
      Result.Add_Test (Caller.Create ("numerals: written and read", Both_Ways'Access));
      return Result;
   end Suite;

end Appserver.Numerals_Tests;
