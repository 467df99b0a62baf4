--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

pragma Ada_2022;

with Ada.Calendar.Formatting;
with Ada.Strings.Fixed;
with Interfaces.C;
with System;

package body Appserver.SQL.Text_Values is

   use Interfaces;
   use type Interfaces.C.size_t;

   subtype Decimal_Digit is Character range '0' .. '9';

   function Digit_Of (C : Decimal_Digit) return Unsigned_64 is
     (Character'Pos (C) - Character'Pos ('0')) with Inline;

   procedure Refuse_Text (State : SQL_State; Text, Kind : String; Column : Column_Number)
     with No_Return, No_Inline;
   procedure Refuse_Text (State : SQL_State; Text, Kind : String; Column : Column_Number) is
   begin
      Raise_Error (State, 0, "column" & Column'Image & " is not a valid " & Kind & ": " & Text);
   end Refuse_Text;

   --------------
   -- Integers --
   --------------

   Largest : constant Unsigned_64 := 2 ** 63;
   --  The magnitude of Integer_64'First

   function Signed
     (Magnitude : Unsigned_64; Negative : Boolean; Column : Column_Number) return Integer_64 is
   begin
      if Magnitude < Largest then
         return (if Negative then -Integer_64 (Magnitude) else Integer_64 (Magnitude));
      elsif Magnitude > Largest or else not Negative then
         Refuse_Range (Column, "64 bits");
      end if;
      return Integer_64'First;
   end Signed;

   --  Has a fast path for texts of up to 18 digits, which are typical and cannot overflow

   function To_Integer_64 (Text : String; Column : Column_Number) return Integer_64 is
      Negative : constant Boolean := Text'Length > 0 and then Text (Text'First) = '-';
      Value    : Unsigned_64 := 0;
   begin
      if Text'Length - Boolean'Pos (Negative) not in 1 .. 18 then
         return To_Scaled (Text, 0, Column);
      end if;
      for C of Text (Text'First + Boolean'Pos (Negative) .. Text'Last) loop
         if C not in Decimal_Digit then
            return To_Scaled (Text, 0, Column);
         end if;
         Value := Value * 10 + Digit_Of (C);
      end loop;
      return (if Negative then -Integer_64 (Value) else Integer_64 (Value));
   end To_Integer_64;

   --------------
   -- Decimals --
   --------------

   function To_Scaled
     (Text : String; Scale : Decimal_Scale; Column : Column_Number) return Integer_64
   is
      Magnitude : Unsigned_64 := 0;
      Decimals  : Natural     := 0;

      procedure Append (Digit : Unsigned_64) is
      begin
         if Magnitude > (Largest - Digit) / 10 then
            Refuse_Range (Column, "64 bits with" & Scale'Image & " decimals");
         end if;
         Magnitude := Magnitude * 10 + Digit;
      end Append;

      Signs     : constant Natural :=
        Boolean'Pos (Text'Length > 0 and then Text (Text'First) in '-' | '+');
      Has_Digit : Boolean := False;
      Point     : Boolean := False;
   begin
      for C of Text (Text'First + Signs .. Text'Last) loop
         if C = '.' and then not Point then
            Point := True;
         elsif C not in Decimal_Digit then
            Refuse_Text ("22018", Text, "number", Column);
         elsif not Point or else Decimals < Scale then
            Append (Digit_Of (C));
            Has_Digit := True;
            Decimals  := Decimals + Boolean'Pos (Point);
         elsif C /= '0' then
            Refuse_Range (Column, Scale'Image (2 .. Scale'Image'Last) & " decimals");
         end if;
      end loop;
      if not Has_Digit then
         Refuse_Text ("22018", Text, "number", Column);
      end if;
      for Missing in Decimals + 1 .. Scale loop
         Append (0);
      end loop;
      return Signed (Magnitude, Text (Text'First) = '-', Column);
   end To_Scaled;

   function Rounded
     (Value : Long_Float; Scale : Decimal_Scale; Column : Column_Number) return Integer_64
   is
      Scaled : constant Long_Float := Value * 10.0 ** Scale;
   begin
      if not (abs Scaled < 1.0e15) then
         Refuse_Range
           (Column,
            "the 15 digits of a floating-point value at scale" & Scale'Image);
      end if;
      return Integer_64 (Scaled);
   end Rounded;

   --  Returns the text with the first index 1, for results that programs receive

   function From_1 (Text : String) return String is
      Result : constant String (1 .. Text'Length) := Text;
   begin
      return Result;
   end From_1;

   function Image (Value : Integer_64) return String is
      Text : constant String := Value'Image;
   begin
      return (if Value < 0 then Text else From_1 (Text (2 .. Text'Last)));
   end Image;

   function Image (Value : Integer_64; Scale : Decimal_Scale) return String is
      Unscaled : constant String := Image (Value);
      Signs    : constant Natural := Boolean'Pos (Value < 0);
      Zeros    : constant String (1 .. Integer'Max (0, Scale + 1 - (Unscaled'Length - Signs))) :=
        [others => '0'];
      Figure   : constant String := Zeros & Unscaled (Unscaled'First + Signs .. Unscaled'Last);
      Point    : constant Natural := Figure'Last - Scale;
   begin
      return
        (if Value < 0 then "-" else "")
        & Figure (Figure'First .. Point)
        & (if Scale = 0 then "" else "." & Figure (Point + 1 .. Figure'Last));
   end Image;

   ------------
   -- Floats --
   ------------

   --  The C library's conversions are exact in both directions. strfromd(3) is available since
   --  glibc 2.25.

   function Strtod (Text : C.char_array; Stop : out System.Address) return Long_Float
     with Import, Convention => C, External_Name => "strtod";

   function Strfromd
     (Text : out C.char_array; Size : C.size_t; Format : C.char_array; Value : Long_Float)
      return C.int
     with Import, Convention => C, External_Name => "strfromd";

   function To_Float (Text : String; Column : Column_Number) return Long_Float is
      use type System.Address;

      Copy  : constant C.char_array := C.To_C (Text);
      Stop  : System.Address;
      Value : constant Long_Float := Strtod (Copy, Stop);
   begin
      if Text'Length = 0 or else Stop /= Copy (Copy'Last)'Address then
         Refuse_Text ("22018", Text, "number", Column);
      end if;
      return Value;
   end To_Float;

   function Formatted (Value : Long_Float; Format : String) return String is
      Text   : C.char_array (1 .. 40);
      Length : constant C.int := Strfromd (Text, Text'Length, C.To_C (Format), Value);
   begin
      return C.To_Ada (Text (1 .. C.size_t (Length)), Trim_Nul => False);
   end Formatted;

   --  15 digits are enough for values that come from a short decimal, and 17 for all values. The
   --  largest values are not tried with 15 digits, since rounding could make them too large.

   function Image (Value : Long_Float) return String is
      Short : constant String := Formatted (Value, "%.15g");
   begin
      return
        (if abs Value < 1.0e308 and then To_Float (Short, 1) = Value
         then Short else Formatted (Value, "%.17g"));
   end Image;

   -----------
   -- Times --
   -----------

   --  Returns the days since 1970-01-01 in the Gregorian calendar. Years start in March here, so
   --  that the leap day is the last day of the year, and the number of days before month m is (153
   --  m + 2) / 5.

   Days_To_1970 : constant := 719_468;
   --  The number of days from 0000-03-01 to 1970-01-01

   function Days_Since_1970 (Year, Month, Day : Natural) return Integer is
      March_Year  : constant Natural := (if Month > 2 then Year else Year - 1);
      March_Month : constant Natural := (if Month > 2 then Month - 3 else Month + 9);
   begin
      return 365 * March_Year + March_Year / 4 - March_Year / 100 + March_Year / 400
        + (153 * March_Month + 2) / 5 + Day - 1 - Days_To_1970;
   end Days_Since_1970;

   --  A Duration in GNAT spans 292 years, so times are relative to the middle of Ada.Calendar's
   --  range

   Middle : constant Ada.Calendar.Time := Ada.Calendar.Formatting.Time_Of (2150, 1, 1);
   Middle_Day : constant Integer := Days_Since_1970 (2150, 1, 1);

   function Is_Leap (Year : Natural) return Boolean is
     (Year mod 4 = 0 and then (Year mod 100 /= 0 or else Year mod 400 = 0));

   function Last_Day (Year, Month : Natural) return Natural is
     (case Month is
         when 1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
         when 4 | 6 | 9 | 11              => 30,
         when 2                           => (if Is_Leap (Year) then 29 else 28),
         when others                      => 0);

   function To_Time
     (Value  : Moment;
      Column : Column_Number;
      Offset : Integer := 0) return Ada.Calendar.Time
   is
      use type Ada.Calendar.Time;

      Days, Seconds : Integer_64;
   begin
      if Value.Year not in Ada.Calendar.Year_Number
        or else Value.Day not in 1 .. Last_Day (Value.Year, Value.Month)
        or else Value.Hour > 23
        or else Value.Minute > 59
        or else Value.Second > 60
      then
         Raise_Error ("22008", 0, "column" & Column'Image & " is not in the range of Ada.Calendar");
      end if;
      Days    := Integer_64
        (Days_Since_1970 (Value.Year, Value.Month, Value.Day) - Middle_Day);
      Seconds := Days * 86_400
        + Integer_64 (Value.Hour * 3_600 + Value.Minute * 60 + Value.Second - Offset);
      return Middle + (Duration (Seconds) + Duration (Value.Nanosecond) / 1_000_000_000);
   end To_Time;

   function To_Time (Text : String; Column : Column_Number) return Ada.Calendar.Time is

      Next : Positive := Text'First;

      procedure Refuse with No_Return is
      begin
         Refuse_Text ("22007", Text, "timestamp", Column);
      end Refuse;

      function Number (Places : Positive) return Natural is
         Value : Natural := 0;
      begin
         if Text'Last - Next + 1 < Places then
            Refuse;
         end if;
         for C of Text (Next .. Next + Places - 1) loop
            if C not in Decimal_Digit then
               Refuse;
            end if;
            Value := Value * 10 + Natural (Digit_Of (C));
         end loop;
         Next := Next + Places;
         return Value;
      end Number;

      function Found (Mark : Character) return Boolean is
      begin
         if Next <= Text'Last and then Text (Next) = Mark then
            Next := Next + 1;
            return True;
         end if;
         return False;
      end Found;

      procedure Expect (Mark : Character) is
      begin
         if not Found (Mark) then
            Refuse;
         end if;
      end Expect;

      --  Reads decimals, and ignores those after the ninth

      function Fraction return Natural is
         Value : Natural := 0;
         Unit  : Natural := 100_000_000;
      begin
         while Next <= Text'Last and then Text (Next) in Decimal_Digit loop
            Value := Value + Number (1) * Unit;
            Unit  := Unit / 10;
         end loop;
         return Value;
      end Fraction;

      --  Reads +01, +01:30, +0130 or +01:30:00

      function Offset return Integer is
         Value : Natural := Number (2) * 3_600;
      begin
         if Next <= Text'Last then
            Value := Value + (if Found (':') then Number (2) else Number (2)) * 60;
         end if;
         return (if Found (':') then Value + Number (2) else Value);
      end Offset;

      Result : Moment;
      Zone   : Integer := 0;
   begin
      Result.Year := Number (4);
      Expect ('-');
      Result.Month := Number (2);
      Expect ('-');
      Result.Day := Number (2);
      if Found (' ') or else Found ('T') then
         Result.Hour := Number (2);
         Expect (':');
         Result.Minute := Number (2);
         if Found (':') then
            Result.Second := Number (2);
         end if;
         if Found ('.') then
            Result.Nanosecond := Fraction;
         end if;
         if Found ('+') then
            Zone := Offset;
         elsif Found ('-') then
            Zone := -Offset;
         elsif Found ('Z') then
            null;
         end if;
      end if;
      if Next <= Text'Last then
         Refuse;
      end if;
      return To_Time (Result, Column, Zone);
   end To_Time;

   function Is_Number (Text : String) return Boolean is
     (for all C of Text => C in Decimal_Digit);

   function Number (Text : String) return Natural is
     (if Text = "" then 0
      else 10 * Number (Text (Text'First .. Text'Last - 1))
           + Natural (Digit_Of (Text (Text'Last))));

   function To_Date (Text : String; Column : Column_Number) return Date is
      S : String renames Text;
      F : constant Positive := Text'First;
   begin
      if Text'Length /= 10
        or else S (F + 4) /= '-'
        or else S (F + 7) /= '-'
        or else not Is_Number (S (F .. F + 3) & S (F + 5 .. F + 6) & S (F + 8 .. F + 9))
      then
         Refuse_Text ("22007", Text, "date", Column);
      end if;
      declare
         Year  : constant Natural := Number (S (F .. F + 3));
         Month : constant Natural := Number (S (F + 5 .. F + 6));
         Day   : constant Natural := Number (S (F + 8 .. F + 9));
      begin
         if Year not in Year_Number or else Day not in 1 .. Last_Day (Year, Month) then
            Refuse_Text ("22008", Text, "date", Column);
         end if;
         return (Year, Month, Day);
      end;
   end To_Date;

   function To_Time_Of_Day (Text : String; Column : Column_Number) return Time_Of_Day is
      S        : String renames Text;
      F        : constant Positive := Text'First;
      Fraction : constant String := (if Text'Length > 9 then S (F + 9 .. S'Last) else "");
      Padded   : constant String := Ada.Strings.Fixed.Head (Fraction, 6, '0');
      Second   : constant String := (if Text'Length >= 8 then S (F + 6 .. F + 7) else "00");
   begin
      if Text'Length not in 5 | 8 | 10 .. 18
        or else S (F + 2) /= ':'
        or else not Is_Number (S (F .. F + 1) & S (F + 3 .. F + 4) & Second & Fraction)
        or else (Text'Length >= 8 and then S (F + 5) /= ':')
        or else (Fraction /= "" and then S (F + 8) /= '.')
      then
         Refuse_Text ("22007", Text, "time of day", Column);
      elsif Number (S (F .. F + 1)) > 23
        or else Number (S (F + 3 .. F + 4)) > 59
        or else Number (Second) > 59
      then
         Refuse_Text ("22008", Text, "time of day", Column);
      end if;
      return
        (Number (S (F .. F + 1)), Number (S (F + 3 .. F + 4)), Number (Second), Number (Padded));
   end To_Time_Of_Day;

   Microseconds : constant := 1_000_000;
   Day_Length   : constant := 86_400 * Microseconds;

   function To_Moment (Time : Ada.Calendar.Time) return Moment is
      use type Ada.Calendar.Time;

      Nanoseconds : constant Integer_64 := Integer_64'Integer_Value (Duration'(Time - Middle));
      Since       : constant Integer_64 :=
        (Nanoseconds + (if Nanoseconds < 0 then -500 else 500)) / 1_000;
      Within      : constant Integer_64 := Since mod Day_Length;
      --  The days since 0000-03-01, later reduced to the days since the beginning of the period of
      --  400, 100, 4 and 1 years
      Days        : Integer :=
        Integer ((Since - Within) / Day_Length) + Middle_Day + Days_To_1970;
      Year        : Integer := 400 * (Days / 146_097);
      Part        : Natural;
   begin
      Days := Days mod 146_097;
      Part := Integer'Min (Days / 36_524, 3);
      Year := Year + 100 * Part;
      Days := Days - 36_524 * Part;
      Year := Year + 4 * (Days / 1_461);
      Days := Days mod 1_461;
      Part := Integer'Min (Days / 365, 3);
      Year := Year + Part;
      Days := Days - 365 * Part;
      Part := (5 * Days + 2) / 153;
      return
        (Year       => (if Part < 10 then Year else Year + 1),
         Month      => (if Part < 10 then Part + 3 else Part - 9),
         Day        => Days - (153 * Part + 2) / 5 + 1,
         Hour       => Natural (Within / (3_600 * Microseconds)),
         Minute     => Natural (Within / (60 * Microseconds) mod 60),
         Second     => Natural (Within / Microseconds mod 60),
         Nanosecond => Natural (Within mod Microseconds) * 1_000);
   end To_Moment;

   --  Formats Value with leading zeros

   function Padded (Value : Natural; Places : Positive) return String is
      Text : constant String := Image (Integer_64 (10 ** Places + Value));
   begin
      return From_1 (Text (2 .. Text'Last));
   end Padded;

   function Image (Value : Moment; Decimals : Second_Decimals := 6) return String is
     (Padded (Value.Year, 4) & "-" & Padded (Value.Month, 2) & "-" & Padded (Value.Day, 2)
      & " " & Padded (Value.Hour, 2) & ":" & Padded (Value.Minute, 2)
      & ":" & Padded (Value.Second, 2)
      & (if Decimals = 0 then ""
         else "." & Padded (Value.Nanosecond / 10 ** (9 - Decimals), Decimals)));

   function Image (Value : Date) return String is
     (Padded (Value.Year, 4) & "-" & Padded (Value.Month, 2) & "-" & Padded (Value.Day, 2));

   function Image (Value : Time_Of_Day) return String is
     (Padded (Value.Hour, 2) & ":" & Padded (Value.Minute, 2) & ":" & Padded (Value.Second, 2)
      & (if Value.Microsecond = 0 then "" else "." & Padded (Value.Microsecond, 6)));

end Appserver.SQL.Text_Values;
