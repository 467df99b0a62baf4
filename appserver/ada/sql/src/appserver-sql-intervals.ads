--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Intervals of time, in the three parts that PostgreSQL stores separately: the number of days in a
--  month varies, and so does the number of hours in a day of a time zone.
--
--  PostgreSQL's interval stores them without loss. A text column of MariaDB or SQLite stores them
--  as text of ISO 8601, which cannot be compared or added. An interval without months and days also
--  fits MariaDB's time(6); a time without decimals truncates its microseconds.

pragma Ada_2022;

package Appserver.SQL.Intervals is

   pragma Assertion_Policy (Pre => Check, Pre'Class => Check);

   use type Interfaces.Integer_64;

   subtype Microsecond_Count is
     Integer_64 range -Integer_64'Last .. Integer_64'Last;

   type Interval is record
      Months       : Integer_32        := 0;
      Days         : Integer_32        := 0;
      Microseconds : Microsecond_Count := 0;
   end record;
   --  Each part has its own sign

   function Image (Value : Interval) return String;
   --  @param Value the interval
   --  @return its text in ISO 8601, such as "P14M-3DT26H-0.000500S"; "PT0S" for an empty interval

   Max_Span : constant Microsecond_Count := 3_020_399_999_999;
   --  838:59:59.999999, the maximum of MariaDB's time

   procedure Bind
     (Self : in out Statement'Class; Parameter : Parameter_Number; Value : Interval)
     with Pre => Can_Bind (Self, Parameter);
   --  Binds the Image of an interval. MariaDB's type time rejects that: SQLSTATE 22007, in strict
   --  mode.
   --  @param Self the statement
   --  @param Parameter the number of the parameter, from 1
   --  @param Value the interval

   procedure Bind_Span
     (Self : in out Statement'Class; Parameter : Parameter_Number; Value : Interval)
     with Pre => Can_Bind (Self, Parameter);
   --  Binds a text such as "-26:04:05.000500", for MariaDB's time, PostgreSQL's interval and texts.
   --  @param Self the statement
   --  @param Parameter the number of the parameter, from 1
   --  @param Value the interval
   --  @exception SQL_Error 22015 if it has months or days, or is longer than Max_Span

   function As_Interval (Self : Statement'Class; Column : Column_Number) return Interval
     with Pre => Can_Read (Self, Column);
   --  Reads both forms, and PostgreSQL's intervalstyle postgres, the default of servers.
   --  @param Self the statement
   --  @param Column the number of the column, from 1
   --  @return the interval
   --  @exception SQL_Error 22007 for other texts and styles; 22015 if it has more than six
   --  decimals, decimals in another part than seconds, or does not fit

end Appserver.SQL.Intervals;
