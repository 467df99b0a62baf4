--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Converts values to and from the text formats of databases.

pragma Ada_2022;

private package Appserver.SQL.Text_Values is

   --  Functions that parse the text of a column. If the text is invalid, the message of the
   --  SQL_Error names the column.

   function To_Integer_64 (Text : String; Column : Column_Number) return Integer_64;

   function To_Scaled
     (Text : String; Scale : Decimal_Scale; Column : Column_Number) return Integer_64;
   --  Returns the exact value of a decimal text times 10 ** Scale, for As_Scaled

   function Rounded
     (Value : Long_Float; Scale : Decimal_Scale; Column : Column_Number) return Integer_64;
   --  Returns Value times 10 ** Scale, with ties rounded away from zero. Raises SQL_Error 22003 if
   --  the result has more digits than the precision of a floating-point value.

   function Is_Exact_Float (Value : Integer_64) return Boolean is
     (abs Long_Float (Value) < 1.0e15);
   --  Returns True if a decimal with the digits of Value and any scale can be converted to floating
   --  point and back without a change: 53 bits preserve 15 decimal digits

   function To_Float (Text : String; Column : Column_Number) return Long_Float;

   function To_Time (Text : String; Column : Column_Number) return Ada.Calendar.Time;
   --  Parses an ISO 8601 timestamp, such as "2026-11-21 09:15:00.123" or
   --  "2026-11-21T09:15:00+01:30"

   function To_Date (Text : String; Column : Column_Number) return Date;
   --  Parses a date in the format "2026-11-21". Raises SQL_Error 22007 for other formats.

   function To_Time_Of_Day (Text : String; Column : Column_Number) return Time_Of_Day;
   --  Parses a time of day, such as "09:15" or "09:15:00.123". Decimals beyond six are truncated.

   --  A timestamp in UTC as separate components. Some databases exchange timestamps in this form.

   type Moment is record
      Year, Month, Day     : Natural;
      Hour, Minute, Second : Natural range 0 .. 99 := 0;
      Nanosecond           : Natural range 0 .. 999_999_999 := 0;
   end record;

   function To_Time
     (Value  : Moment;
      Column : Column_Number;
      Offset : Integer := 0) return Ada.Calendar.Time;
   --  Converts a timestamp. Offset is the offset of the time zone from UTC, in seconds. Raises
   --  SQL_Error 22008 if the timestamp does not exist.

   function To_Moment (Time : Ada.Calendar.Time) return Moment;
   --  Converts a time, rounded to the microsecond

   --  Functions that format values as SQL text

   function Image (Value : Integer_64) return String;

   function Image (Value : Integer_64; Scale : Decimal_Scale) return String;
   --  Formats the decimal Value / 10 ** Scale, such as "-0.0500"

   function Image (Value : Long_Float) return String;
   --  Formats a value with enough digits to convert the text back to the same value

   subtype Second_Decimals is Natural range 0 .. 9;

   function Image (Value : Moment; Decimals : Second_Decimals := 6) return String;
   --  Formats a timestamp, such as "2026-11-21 09:15:00.123000". Additional decimals are truncated.

   function Image (Value : Date) return String;
   function Image (Value : Time_Of_Day) return String;
   --  Formats a time with six decimals, or without decimals if all of them are zero

end Appserver.SQL.Text_Values;
