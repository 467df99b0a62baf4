--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Intervals of time, in the three parts that PostgreSQL keeps apart: a month has no certain number
--  of days, and a day of a time zone no certain number of hours.
--
--  They are kept without a loss in PostgreSQL's interval, and as text of ISO 8601 in a text column
--  of MariaDB and SQLite, where they cannot be compared or added. A span of time, which has neither
--  months nor days, also fits MariaDB's time(6); a time without decimals cuts its microseconds.

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
   --  Of ISO 8601, as in "P14M-3DT26H-0.000500S"; "PT0S" for nothing

   Longest_Span : constant Microsecond_Count := 3_020_399_999_999;
   --  838:59:59.999999, which is MariaDB's

   procedure Bind
     (Self : in out Statement'Class; Parameter : Parameter_Number; Value : Interval)
     with Pre => Can_Bind (Self, Parameter);
   --  As its Image. A column of time in MariaDB refuses it: SQLSTATE 22007, in strict mode.

   procedure Bind_Span
     (Self : in out Statement'Class; Parameter : Parameter_Number; Value : Interval)
     with Pre => Can_Bind (Self, Parameter);
   --  As in "-26:04:05.000500", for MariaDB's time, PostgreSQL's interval and texts. SQL_Error,
   --  22015, if it has months or days, or is beyond Longest_Span.

   function As_Interval (Self : Statement'Class; Column : Column_Number) return Interval
     with Pre => Can_Read (Self, Column);
   --  Of both forms, and of PostgreSQL's intervalstyle postgres, which is the server's usual one.
   --  SQL_Error: 22007 if it is none, as in other styles; 22015 if it has more than six decimals,
   --  decimals elsewhere than in seconds, or does not fit.

end Appserver.SQL.Intervals;
