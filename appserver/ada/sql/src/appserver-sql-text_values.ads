--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Values as databases write them in text.

pragma Ada_2022;

private package Appserver.SQL.Text_Values is

   --  Reading: SQL_Error names the column if its text is invalid

   function To_Integer_64 (Text : String; Column : Column_Number) return Integer_64;

   function To_Scaled
     (Text : String; Scale : Decimal_Scale; Column : Column_Number) return Integer_64;
   --  The exact value of a decimal text, for As_Scaled

   function Rounded
     (Value : Long_Float; Scale : Decimal_Scale; Column : Column_Number) return Integer_64;
   --  Value times 10 ** Scale; a tie goes away from zero. SQL_Error, 22003, if it has more digits
   --  than a floating-point value keeps.

   function Is_Exact_Float (Value : Integer_64) return Boolean is
     (abs Long_Float (Value) < 1.0e15);
   --  True if the value, as a decimal with any scale, survives conversion to floating point: 53
   --  bits keep 15 decimal digits

   function To_Float (Text : String; Column : Column_Number) return Long_Float;

   function To_Time (Text : String; Column : Column_Number) return Ada.Calendar.Time;
   --  From ISO 8601, such as "2026-11-21 09:15:00.123" or "2026-11-21T09:15:00+01:30"

   function To_Date (Text : String; Column : Column_Number) return Date;
   --  From "2026-11-21" and no other form

   function To_Time_Of_Day (Text : String; Column : Column_Number) return Time_Of_Day;
   --  From "09:15" or "09:15:00.123"; decimals beyond six are cut

   --  A timestamp in parts, for databases that have it in parts; in UTC

   type Moment is record
      Year, Month, Day     : Natural;
      Hour, Minute, Second : Natural range 0 .. 99 := 0;
      Nanosecond           : Natural range 0 .. 999_999_999 := 0;
   end record;

   function To_Time
     (Value  : Moment;
      Column : Column_Number;
      Offset : Integer := 0) return Ada.Calendar.Time;
   --  Offset is that of the time zone, in seconds. SQL_Error, 22008, if there is no such moment.

   function To_Moment (Time : Ada.Calendar.Time) return Moment;
   --  Rounded to the microsecond

   --  Writing

   function Image (Value : Integer_64) return String;

   function Image (Value : Integer_64; Scale : Decimal_Scale) return String;
   --  Value / 10 ** Scale, as in "-0.0500"

   function Image (Value : Long_Float) return String;
   --  With enough digits to be read back as the same value

   subtype Second_Decimals is Natural range 0 .. 9;

   function Image (Value : Moment; Decimals : Second_Decimals := 6) return String;
   --  Such as "2026-11-21 09:15:00.123000"; decimals beyond those are cut

   function Image (Value : Date) return String;
   function Image (Value : Time_Of_Day) return String;
   --  With six decimals, unless these are zeros

end Appserver.SQL.Text_Values;
