--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Intervals of time, with months, days and microseconds as separate components, as in PostgreSQL.
--  They are separate because months have different numbers of days, and in a time zone, days can
--  have different numbers of hours.
--
--  PostgreSQL's type interval stores these intervals without loss. A text column of MariaDB or
--  SQLite stores them as ISO 8601 text, which cannot be compared or added. An interval without
--  months and days also fits into MariaDB's type time(6). The type time without decimals truncates
--  the microseconds.

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
   --  An interval of months, days and microseconds. Each component has its own sign.

   function Image (Value : Interval) return String;
   --  @param Value the interval
   --  @return the interval as ISO 8601 text, such as "P14M-3DT26H-0.000500S"; "PT0S" if all
   --  components are zero

   Max_Span : constant Microsecond_Count := 3_020_399_999_999;
   --  The maximum of MariaDB's type time, 838:59:59.999999, in microseconds

   procedure Bind
     (Self : in out Statement'Class; Parameter : Parameter_Number; Value : Interval)
     with Pre => Can_Bind (Self, Parameter);
   --  Binds the Image of an interval. MariaDB's type time rejects this text in strict mode, with
   --  SQLSTATE 22007.
   --  @param Self the statement
   --  @param Parameter the number of the parameter, from 1
   --  @param Value the interval

   procedure Bind_Span
     (Self : in out Statement'Class; Parameter : Parameter_Number; Value : Interval)
     with Pre => Can_Bind (Self, Parameter);
   --  Binds a text such as "-26:04:05.000500". Columns of MariaDB's type time and of PostgreSQL's
   --  type interval accept this format, and so do text columns.
   --  @param Self the statement
   --  @param Parameter the number of the parameter, from 1
   --  @param Value the interval
   --  @exception SQL_Error 22015 if the interval has months or days, or is longer than Max_Span

   function As_Interval (Self : Statement'Class; Column : Column_Number) return Interval
     with Pre => Can_Read (Self, Column);
   --  Reads an interval, in the formats that Bind and Bind_Span write, or in PostgreSQL's
   --  intervalstyle postgres, the default of PostgreSQL servers.
   --  @param Self the statement
   --  @param Column the number of the column, from 1
   --  @return the interval
   --  @exception SQL_Error 22007 for other texts and styles; 22015 if the value has more than six
   --  decimals, has decimals in a component other than the seconds, or does not fit

end Appserver.SQL.Intervals;
