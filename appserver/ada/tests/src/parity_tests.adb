--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

with Ada.Calendar.Formatting;
with Ada.Command_Line;
with Ada.Directories;
with Ada.Strings.Fixed;
with Appserver.SQL.Pools;
with AUnit.Assertions;
with AUnit.Test_Caller;
with AUnit.Test_Fixtures;
with Checks;
with Interfaces.C;

package body Parity_Tests is

   use AUnit.Assertions;
   use Checks;
   use Database;
   use Test_Databases;
   use type Ada.Calendar.Time;
   use type SQL.Error_Kind;
   use type SQL.Integer_64;

   type Fixture is new AUnit.Test_Fixtures.Test_Fixture with record
      DB    : aliased Connection;
      Other : aliased Connection;
      --  Reads what DB wrote, in a session without changed settings
   end record;

   overriding procedure Set_Up (T : in out Fixture);
   overriding procedure Tear_Down (T : in out Fixture);

   overriding procedure Set_Up (T : in out Fixture) is
   begin
      Open (T.DB);
      Connect (T.Other);
   end Set_Up;

   overriding procedure Tear_Down (T : in out Fixture) is
   begin
      T.DB.Close;
      T.Other.Close;
   end Tear_Down;

   function In_Dialect (SQLite, PostgreSQL, MariaDB : String) return String is
     (if Dialect.Name.all = "SQLite" then SQLite
      elsif Dialect.Name.all = "PostgreSQL" then PostgreSQL
      else MariaDB);

   --------------
   -- Sessions --
   --------------

   --  Settings that a program, a role or a server may have made. An empty text means that this
   --  database has no such setting.

   type Session_List is array (Positive range <>) of Text_Reference;

   Sessions : constant Session_List :=
     [+"",
      +In_Dialect ("", "SET TimeZone = 'Europe/Berlin'", "SET time_zone = '+02:00'"),
      +In_Dialect ("", "SET TimeZone = 'America/Los_Angeles'", "SET time_zone = '-07:00'"),
      +In_Dialect ("", "SET TimeZone = 'Asia/Kathmandu'", "SET @@session.time_zone = '+05:45'"),
      +In_Dialect ("", "SET DateStyle = 'SQL, DMY'", ""),
      +In_Dialect ("", "SET DateStyle = 'German'", ""),
      +In_Dialect ("", "SET DateStyle = 'Postgres, MDY'", ""),
      +In_Dialect ("", "SET client_encoding = 'LATIN1'", "SET NAMES latin1"),
      +In_Dialect ("", "", "SET character_set_results = latin1"),
      +In_Dialect
        ("", "SET bytea_output = 'escape'",
         "SET sql_mode = concat(@@sql_mode, ',NO_BACKSLASH_ESCAPES,ANSI_QUOTES')"),
      +In_Dialect ("", "SET extra_float_digits = 1", "SET sql_mode = ''")];

   --  Calls Run in each of these sessions

   procedure In_Each_Session (T : in out Fixture; Run : not null access procedure (Name : String))
   is
      Is_First : Boolean := True;
   begin
      for Setting of Sessions loop
         if Is_First or else Setting.all /= "" then
            T.DB.Close;
            Open (T.DB);
            if Setting.all /= "" then
               T.DB.Execute (Setting.all);
            end if;
            Run (Setting.all);
         end if;
         Is_First := False;
      end loop;
   end In_Each_Session;

   -----------
   -- Times --
   -----------

   function Moment
     (Year, Month, Day : Positive; Seconds : Duration := 0.0) return Ada.Calendar.Time is
     (Ada.Calendar.Formatting.Time_Of (Year, Month, Day, Seconds => Seconds));

   type Time_List is array (Positive range <>) of Ada.Calendar.Time;

   --  Includes times around changes to and from daylight saving time

   Moments : constant Time_List :=
     [Moment (2026, 7, 1, 43_200.0), Moment (2026, 1, 1), Moment (2026, 3, 29, 5_400.125),
      Moment (2026, 10, 25, 3_600.5), Moment (2026, 11, 1, 32_400.0),
      Moment (1971, 12, 31, 86_399.75)];

   Moment_Columns : constant String :=
     In_Dialect
       ("zoned text, unzoned text", "zoned timestamptz, unzoned timestamp",
        "zoned timestamp(6) NULL, unzoned datetime(6) NULL");

   procedure Check_Moment (DB : in out Connection; Value : Ada.Calendar.Time; Name : String) is
      Query : Statement;
   begin
      for Way in 1 .. 3 loop
         if Way = 1 then
            Prepare (Query, DB, "SELECT zoned, unzoned FROM t");
         else
            Prepare_Client_Side (Query, DB, "SELECT zoned, unzoned FROM t");
            Query.Set_Streamed (Way = 3);
         end if;
         Assert (Query.Step, "a row");
         for Column in 1 .. 2 loop
            Assert
              (Query.As_Time (Column) = Value,
               Name & Column'Image & ": " & Ada.Calendar.Formatting.Image (Value)
               & " is read as " & Query.As_Text (Column));
         end loop;
         Query.Close;
      end loop;
   end Check_Moment;

   --  A time is the same for the session that wrote it and for another session

   procedure Times (T : in out Fixture) is

      procedure Run (Name : String) is
         Insert : Statement;
      begin
         T.DB.Execute ("CREATE TABLE t (" & Moment_Columns & ")");
         for Value of Moments loop
            for Prepares in Boolean loop
               if Prepares then
                  Prepare (Insert, T.DB, "INSERT INTO t VALUES (?, ?)");
               else
                  Prepare_Client_Side (Insert, T.DB, "INSERT INTO t VALUES (?, ?)");
               end if;
               Insert.Bind (1, Value);
               Insert.Bind (2, Value);
               Insert.Execute;
               Insert.Close;
               Check_Moment (T.DB, Value, Name);
               Check_Moment (T.Other, Value, "after " & Name);
               T.DB.Execute ("DELETE FROM t");
            end loop;
         end loop;
      end Run;
   begin
      In_Each_Session (T, Run'Access);
   end Times;

   Now : constant String := In_Dialect ("CURRENT_TIMESTAMP", "now()", "now(6)");

   Minute : constant Duration := 60.0;
   --  More than the time of a statement on a busy machine, and less than any time zone offset

   --  The database's clock agrees with the program's, and a bound time can be compared with it

   procedure Clocks (T : in out Fixture) is

      procedure Run (Name : String) is
         Query : Statement;
         Limit : constant Ada.Calendar.Time := Ada.Calendar.Clock + Minute;
      begin
         T.DB.Execute ("CREATE TABLE t (" & Moment_Columns & ")");
         T.DB.Execute ("INSERT INTO t (zoned) VALUES (" & Now & ")");
         Prepare (Query, T.DB, "SELECT zoned FROM t");
         Assert (Query.Step, "a row");
         Assert
           (abs (Query.As_Time (1) - Ada.Calendar.Clock) < Minute,
            Name & ": now is read as " & Query.As_Text (1));
         Query.Close;
         for Column in 1 .. 2 loop
            T.DB.Execute ("DELETE FROM t");
            Prepare (Query, T.DB, "INSERT INTO t VALUES (?, NULL)");
            Query.Bind (1, (if Column = 1 then Limit else Limit - 2 * Minute));
            Query.Execute;
            Query.Close;
            Prepare_Client_Side (Query, T.DB, "SELECT count(*) FROM t WHERE zoned > " & Now);
            Assert (Query.Step, "a row");
            Assert
              (Query.As_Integer_64 (1) = (if Column = 1 then 1 else 0),
               Name & ": a moment is compared with now");
            Query.Close;
         end loop;
      end Run;
   begin
      In_Each_Session (T, Run'Access);
   end Clocks;

   --  In a session without changed settings, the database's clock is in UTC, even without a time
   --  zone

   procedure Clock_Without_Zone (T : in out Fixture) is
      Query : Statement;
   begin
      T.DB.Execute ("CREATE TABLE t (" & Moment_Columns & ")");
      T.DB.Execute ("INSERT INTO t (unzoned) VALUES (" & Now & ")");
      Prepare (Query, T.DB, "SELECT unzoned FROM t");
      Assert (Query.Step, "a row");
      Assert
        (abs (Query.As_Time (1) - Ada.Calendar.Clock) < Minute, "now is " & Query.As_Text (1));
   end Clock_Without_Zone;

   ------------
   -- Values --
   ------------

   type Money is delta 0.01 digits 18;
   procedure Bind_Money is new SQL.Bind_Decimal (Money);
   function As_Money is new SQL.As_Decimal (Money);

   type Reading is (Whole, Short, Float, Decimal, Text, Logical, Time);

   --  Returns the value as text, or the SQLSTATE of the error

   function Outcome (Query : Statement; Way : Reading) return String is
      function Trimmed (Image : String) return String is
        (Ada.Strings.Fixed.Trim (Image, Ada.Strings.Left));
   begin
      return
        (case Way is
            when Whole   => Trimmed (Query.As_Integer_64 (1)'Image),
            when Short   => Trimmed (Query.As_Integer_32 (1)'Image),
            when Float   => Trimmed (Query.As_Float (1)'Image),
            when Decimal => Trimmed (As_Money (Query, 1)'Image),
            when Text    => Query.As_Text (1),
            when Logical => Query.As_Boolean (1)'Image,
            when Time    => Ada.Calendar.Formatting.Image (Query.As_Time (1)));
   exception
      when Error : SQL.SQL_Error => return SQL.State_Of (Error);
   end Outcome;

   type Situation is record
      Value    : Text_Reference;
      --  An expression, or, if Is_Bound is True, a text to bind
      Is_Bound : Boolean;
      Way      : Reading;
      Outcome  : Text_Reference;
   end record;

   type Situation_List is array (Positive range <>) of Situation;

   function Bound (Value : String; Way : Reading; Outcome : String) return Situation is
     (+Value, True, Way, +Outcome);

   function Computed (Value : String; Way : Reading; Outcome : String) return Situation is
     (+Value, False, Way, +Outcome);

   Double : constant String := In_Dialect ("real", "double precision", "double");

   Umlauts : constant String := "Gr" & Character'Val (16#C3#) & Character'Val (16#BC#) & "n "
     & Character'Val (16#F0#) & Character'Val (16#9F#) & Character'Val (16#98#)
     & Character'Val (16#80#);

   Situations : constant Situation_List :=
     [Bound ("12", Whole, "12"),
      Bound ("-9223372036854775808", Whole, "-9223372036854775808"),
      Bound ("9223372036854775808", Whole, "22003"),
      Bound ("2147483648", Short, "22003"),
      Bound ("abc", Whole, "22018"),
      Bound ("12abc", Whole, "22018"),
      Bound ("", Whole, "22018"),
      Bound ("2.50", Whole, "22003"),
      Bound ("2.00", Whole, "2"),
      Bound ("abc", Float, "22018"),
      Bound ("", Float, "22018"),
      Bound ("2.5", Float, "2.50000000000000E+00"),
      Bound ("abc", Decimal, "22018"),
      Bound ("1234567890123456.78", Decimal, "1234567890123456.78"),
      Bound ("-9999999999999999.99", Decimal, "-9999999999999999.99"),
      Bound ("0.001", Decimal, "22003"),
      Bound ("abc", Logical, "22018"),
      Bound ("2", Logical, "22018"),
      Bound ("1", Logical, "TRUE"),
      Bound ("abc", Time, "22007"),
      Bound ("01/07/2026 12:00:00", Time, "22007"),
      Bound ("2026-07-01 12:00:00", Time, "2026-07-01 12:00:00"),
      Bound ("2026-07-01 12:00:00+02", Time, "2026-07-01 10:00:00"),
      Bound (Umlauts, Text, Umlauts),
      Bound ("it's \' ""x"" \\", Text, "it's \' ""x"" \\"),
      Bound ("", Text, ""),
      Computed ("'" & Umlauts & "'", Text, Umlauts),
      Computed ("CAST(2.5 AS " & Double & ")", Whole, "22003"),
      Computed ("CAST(3 AS " & Double & ")", Whole, "3"),
      Computed ("CAST(1e300 AS " & Double & ")", Whole,
                In_Dialect ("22003", "22018", "22018")),
      --  The drivers for servers read the text of the value, which has an exponent
      Computed ("CAST(0.1 AS " & Double & ")", Decimal, "0.10"),
      Computed ("CAST(1234567890123.25 AS " & Double & ")", Decimal, "1234567890123.25"),
      Computed ("CAST(1234567890123456.78 AS " & Double & ")", Decimal, "22003"),
      Computed ("NULL", Whole, "22002"),
      Computed ("NULL", Short, "22002"),
      Computed ("NULL", Float, "22002"),
      Computed ("NULL", Decimal, "22002"),
      Computed ("NULL", Text, "22002"),
      Computed ("NULL", Logical, "22002"),
      Computed ("NULL", Time, "22002")];

   procedure Read_Values (T : in out Fixture) is

      procedure Run (Name : String) is
         Query : Statement;
      begin
         for Row of Situations loop
            for Prepares in Boolean loop
               declare
                  Select_It : constant String :=
                    "SELECT " & (if Row.Is_Bound then "?" else Row.Value.all);
               begin
                  if Prepares then
                     Prepare (Query, T.DB, Select_It);
                  else
                     Prepare_Client_Side (Query, T.DB, Select_It);
                  end if;
               end;
               if Row.Is_Bound then
                  Query.Bind (1, Row.Value.all);
               end if;
               Assert (Query.Step, "a row");
               Assert
                 (Outcome (Query, Row.Way), Row.Outcome.all,
                  Row.Value.all & " as " & Row.Way'Image
                  & (if Prepares then ", prepared" else ", used") & "; " & Name);
               Query.Close;
            end loop;
         end loop;
      end Run;
   begin
      In_Each_Session (T, Run'Access);
   end Read_Values;

   --  A decimal is read back unchanged, or is rejected when it is bound, but never read back as a
   --  different value

   type Money_List is array (Positive range <>) of Money;

   procedure Decimals (T : in out Fixture) is

      Insert, Query : Statement;

      procedure Comes_Back (Value : Money) is
      begin
         Bind_Money (Insert, 1, Value);
         Insert.Execute;
         Assert (Query.Step, "a row");
         Assert (As_Money (Query, 1) = Value, Value'Image & " is read as " & Query.As_Text (1));
         Query.Reset;
         T.DB.Execute ("DELETE FROM t");
      end Comes_Back;

      procedure Bind_Long is
      begin
         Comes_Back (1_234_567_890_123_456.78);
      end Bind_Long;
   begin
      T.DB.Execute ("CREATE TABLE t (m decimal(18, 2))");
      for Prepares in Boolean loop
         if Prepares then
            Prepare (Insert, T.DB, "INSERT INTO t VALUES (?)");
         else
            Prepare_Client_Side (Insert, T.DB, "INSERT INTO t VALUES (?)");
         end if;
         Prepare (Query, T.DB, "SELECT m FROM t");
         for Value of Money_List'
           [0.0, 0.01, -0.07, 1.1, 9_999_999_999_999.99, -9_999_999_999_999.99,
            1_234_567_890_123_456.00, -1_000_000_000_000_000.00]
         loop
            Comes_Back (Value);
         end loop;
         if Dialect.Name.all = "SQLite" then
            Is_Refused (Bind_Long'Access, "22003", "15 digits");
         else
            Bind_Long;
         end if;
         Insert.Close;
         Query.Close;
      end loop;
   end Decimals;

   --  An integral decimal is not bound as an integer, whose division would truncate

   procedure Divided_Decimals (T : in out Fixture) is

      Change, Query : Statement;

      procedure Divide (Text : String; Value, Expected : Money) is
      begin
         T.DB.Execute ("DELETE FROM t");
         T.DB.Execute ("INSERT INTO t VALUES (7)");
         Prepare (Change, T.DB, "UPDATE t SET m = " & Text);
         Bind_Money (Change, 1, Value);
         Change.Execute;
         Prepare (Query, T.DB, "SELECT m FROM t");
         Assert (Query.Step, "a row");
         Assert (As_Money (Query, 1) = Expected, Text & " is " & Query.As_Text (1));
         Query.Close;
         Change.Close;
      end Divide;
   begin
      T.DB.Execute ("CREATE TABLE t (m decimal(18, 2))");
      Divide ("m / ?", 2.0, Expected => 3.5);
      Divide ("m * ? / 2", 3.0, Expected => 10.5);
      Divide ("m / ?", -4.0, Expected => -1.75);
   end Divided_Decimals;

   --------------------------
   -- Errors after results --
   --------------------------

   --  The second row of an INSERT fails after the first row has been returned

   procedure Late_Errors (T : in out Fixture) is

      Insert : Statement;

      procedure Execute is
      begin
         Insert.Execute;
      end Execute;

      procedure Read_All is
      begin
         for Row in 1 .. 3 loop
            exit when not Insert.Step;
         end loop;
      end Read_All;

      procedure Read_One is
      begin
         if Insert.Step then
            Insert.Reset;
         end if;
      end Read_One;

      procedure Fails (Act : not null access procedure; Name : String) is
      begin
         begin
            Act.all;
            Assert (False, Name & ": no exception");
         exception
            when Error : SQL.SQL_Error =>
               Assert
                 (SQL.Error_Of (Error).Kind = SQL.Unique_Violation,
                  Name & ": " & SQL.Message_Of (Error));
         end;
         Answers (T.DB, "SELECT count(*) FROM t", "1");
      end Fails;
   begin
      T.DB.Execute ("CREATE TABLE t (id integer PRIMARY KEY)");
      T.DB.Execute ("INSERT INTO t VALUES (1)");
      for Prepares in Boolean loop
         for Streams in Boolean loop
            if Prepares then
               Prepare (Insert, T.DB, "INSERT INTO t VALUES (2), (1) RETURNING id");
            else
               Prepare_Client_Side (Insert, T.DB, "INSERT INTO t VALUES (2), (1) RETURNING id");
            end if;
            Insert.Set_Streamed (Streams);
            for Time in 1 .. 2 loop
               Fails (Execute'Access, "executed");
               Fails (Read_All'Access, "all rows");
               Fails (Read_One'Access, "a row");
            end loop;
            Insert.Close;
         end loop;
      end loop;
   end Late_Errors;

   --  A statement that returns the rows that it has changed

   procedure Returned_Counts (T : in out Fixture) is

      Change                   : Statement;
      Prepares, Streams, Reads : Boolean;

      procedure Changes (Text : String; Expected : SQL.Integer_64) is
      begin
         if Prepares then
            Prepare (Change, T.DB, Text);
         else
            Prepare_Client_Side (Change, T.DB, Text);
         end if;
         Change.Set_Streamed (Streams);
         if Reads then
            for Row in 1 .. Expected loop
               Assert (Change.Step, "a row");
            end loop;
            Assert (not Change.Step, "no more rows");
         else
            Assert (Change.Step = (Expected > 0), "a row");
            Change.Reset;
         end if;
         Change.Close;
         Assert (T.DB.Rows_Affected = Expected, Text & T.DB.Rows_Affected'Image);
         Answers (T.DB, "SELECT count(*) FROM t WHERE id > 100", "0");
         Assert (T.DB.Rows_Affected = Expected, "after SELECT:" & T.DB.Rows_Affected'Image);
      end Changes;
   begin
      T.DB.Execute ("CREATE TABLE t (id integer PRIMARY KEY)");
      T.DB.Execute ("INSERT INTO t VALUES (1), (2), (3), (4)");
      for Way in 0 .. 7 loop
         Prepares := Way mod 2 = 0;
         Streams  := Way / 2 mod 2 = 0;
         Reads    := Way / 4 = 0;
         Changes ("INSERT INTO t VALUES (9) RETURNING id", 1);
         Changes ("/* two */ INSERT INTO t VALUES (7), (8) RETURNING id", 2);
         Changes ("-- 3" & ASCII.LF & " DELETE FROM t WHERE id > 6 RETURNING id", 3);
         Changes ("DELETE FROM t WHERE id > 6 RETURNING id", 0);
      end loop;
   end Returned_Counts;

   -------------
   -- Notices --
   -------------

   package C renames Interfaces.C;
   use type C.int;

   function Open_File (Path : C.char_array; Flags : C.int; Mode : C.int) return C.int
     with Import, Convention => C_Variadic_2, External_Name => "open";
   function Duplicate (File : C.int) return C.int
     with Import, Convention => C, External_Name => "dup";
   function Duplicate (File, Onto : C.int) return C.int
     with Import, Convention => C, External_Name => "dup2";
   function Close_File (File : C.int) return C.int
     with Import, Convention => C, External_Name => "close";

   Write_New      : constant := 8#1101#;  --  O_WRONLY, O_CREAT, O_TRUNC of Linux
   Standard_Error : constant := 2;

   --  Notices of a database do not appear on standard error

   procedure Notices (T : in out Fixture) is
      use type Ada.Directories.File_Size;

      Path    : constant String := Ada.Command_Line.Argument (1) & "/standard_error";
      File    : constant C.int := Open_File (C.To_C (Path), Write_New, 8#600#);
      Before  : constant C.int := Duplicate (Standard_Error);
      Ignored : C.int;
   begin
      Assert (File >= 0 and then Before >= 0, "files");
      if Dialect.Name.all = "PostgreSQL" then
         T.DB.Execute ("SET client_min_messages = notice");
      end if;
      Ignored := Duplicate (File, Standard_Error);
      begin
         T.DB.Execute ("DROP TABLE IF EXISTS nowhere");
         T.DB.Execute (In_Dialect ("SELECT 1", "ROLLBACK", "SELECT 1 / 0"));
      exception
         when others =>
            Ignored := Duplicate (Before, Standard_Error);
            raise;
      end;
      Ignored := Duplicate (Before, Standard_Error);
      Ignored := Close_File (Before);
      Ignored := Close_File (File);
      Assert (Ada.Directories.Size (Path) = 0, "standard error is not empty: " & Path);
   end Notices;

   -----------------------
   -- State of sessions --
   -----------------------

   procedure Prepare_On
     (Self : in out Statement; On : in out Connection'Class; Text : SQL.UTF_8_String) is
   begin
      Prepare (Self, Connection (On), Text);
   end Prepare_On;

   Set_To     : constant String :=
     In_Dialect
       ("PRAGMA cache_size = ", "SET lock_timeout = ", "SET innodb_lock_wait_timeout = ");
   Setting    : constant String :=
     In_Dialect
       ("PRAGMA cache_size", "SELECT setting FROM pg_settings WHERE name = 'lock_timeout'",
        "SELECT @@innodb_lock_wait_timeout");
   Take_Lock  : constant String :=
     In_Dialect
       ("SELECT 1", "SELECT pg_advisory_lock(7)", "SELECT get_lock('appserver parity', 0)");
   Can_Lock   : constant String :=
     In_Dialect
       ("SELECT 1", "SELECT pg_try_advisory_lock(7)::integer",
        "SELECT is_free_lock('appserver parity')");
   Free_Locks : constant String :=
     In_Dialect ("SELECT 1", "SELECT pg_advisory_unlock_all()", "SELECT 1");

   Schema     : constant String :=
     In_Dialect ("SELECT 1", "SELECT current_schema()", "SELECT database()");
   Use_Other  : constant String :=
     In_Dialect ("SELECT 1", "SET search_path = pg_catalog", "USE information_schema");

   function Text_Of (DB : in out Connection; Text : String) return String is
      Query : Statement;
   begin
      Prepare (Query, DB, Text);
      Assert (Query.Step, "a row of " & Text);
      return Query.As_Text (1);
   end Text_Of;

   procedure Set_77 (DB : in out Connection) is
   begin
      DB.Execute (Set_To & "77");
   end Set_77;

   package Resetting is new SQL.Pools
     (Connection, Statement, Connect, Prepare_On, Resets_Sessions => True, Set_Up => Set_77);

   --  The next lease does not see the session state of the previous lease: settings, temporary
   --  tables, locks, an open transaction, or another schema. The connection's cached statements
   --  still run.

   procedure Leases (T : in out Fixture) is

      Shop : aliased Resetting.Pool (Capacity => 1);

      procedure Check_Session (DB : in out SQL.Connection'Class; Time : Positive) is

         procedure Read_Left is
         begin
            DB.Execute ("SELECT * FROM left_over");
         end Read_Left;
      begin
         Answers (DB, Setting, "77");
         Answers (DB, Schema, Text_Of (T.Other, Schema));
         Is_Refused (Read_Left'Access, Dialect.No_Table);
         Assert (DB.In_Autocommit, "no transaction" & Time'Image);
      end Check_Session;

      procedure Use_Kept (Held : Resetting.Lease) is
         Query : constant Resetting.Prepared_Statement := Held.Prepared ("SELECT ? + 1");
      begin
         Query.Bind (1, SQL.Integer_64'(41));
         Assert
           (Query.Step and then Query.As_Integer_64 (1) = 42, "a statement that the pool kept");
      end Use_Kept;

   begin
      for Time in 1 .. 3 loop
         declare
            Held : Resetting.Lease (Shop'Access);
         begin
            Held.Get (Timeout => 60.0);
            Check_Session (Held.DB, Time);
            Use_Kept (Held);
            Held.DB.Execute (Set_To & "88");
            Held.DB.Execute ("CREATE TEMPORARY TABLE left_over (x integer)");
            Held.DB.Execute ("INSERT INTO left_over VALUES (1)");
            Held.DB.Execute (Take_Lock);
            Held.DB.Execute (In_Dialect ("BEGIN", "BEGIN", "START TRANSACTION"));
            Held.DB.Execute ("INSERT INTO left_over VALUES (2)");
            Held.DB.Execute (Use_Other);
         end;
         Answers (T.Other, Can_Lock, "1");
         T.Other.Execute (Free_Locks);
         Assert (Shop.Statistics.Open = 1, "the connection is still open");
      end loop;
   end Leases;

   --  Times are in UTC, and texts in UTF-8, even after a reset

   procedure Reset_Session (T : in out Fixture) is

      procedure Run (Name : String) is
      begin
         T.DB.Reset_Session;
         T.DB.Execute ("CREATE TABLE t (" & Moment_Columns & ")");
         declare
            Insert : Statement;
         begin
            Prepare (Insert, T.DB, "INSERT INTO t VALUES (?, ?)");
            for Column in 1 .. 2 loop
               Insert.Bind (Column, Moments (1));
            end loop;
            T.DB.Reset_Session;
            if Dialect.Name.all = "SQLite" then
               Assert (not Insert.Is_Open, "closed");
               Prepare (Insert, T.DB, "INSERT INTO t VALUES (?, ?)");
               for Column in 1 .. 2 loop
                  Insert.Bind (Column, Moments (1));
               end loop;
            end if;
            Insert.Execute;
         end;
         Check_Moment (T.DB, Moments (1), Name);
         Check_Moment (T.Other, Moments (1), "after " & Name);
         Answers (T.DB, "SELECT '" & Umlauts & "'", Umlauts);
         T.DB.Execute ("DELETE FROM t");
         T.DB.Execute ("INSERT INTO t (unzoned) VALUES (" & Now & ")");
         declare
            Query : Statement;
         begin
            Prepare (Query, T.DB, "SELECT unzoned FROM t");
            Assert (Query.Step, "a row");
            Assert
              (abs (Query.As_Time (1) - Ada.Calendar.Clock) < Minute,
               Name & ": now is " & Query.As_Text (1));
         end;
      end Run;
   begin
      In_Each_Session (T, Run'Access);
   end Reset_Session;

   package Caller is new AUnit.Test_Caller (Fixture);

   function Suite return AUnit.Test_Suites.Access_Test_Suite is
      Result : constant AUnit.Test_Suites.Access_Test_Suite := AUnit.Test_Suites.New_Suite;

      procedure Add (Name : String; Test : Caller.Test_Method) is
      begin
         Result.Add_Test (Caller.Create (Dialect.Name.all & ": parity: " & Name, Test));
      end Add;
   begin
      Add ("times in sessions with any settings", Times'Access);
      Add ("clocks in sessions with any settings", Clocks'Access);
      Add ("a clock without a zone", Clock_Without_Zone'Access);
      Add ("values as they are read", Read_Values'Access);
      Add ("decimals", Decimals'Access);
      Add ("division of decimals", Divided_Decimals'Access);
      Add ("errors after results", Late_Errors'Access);
      Add ("counts of returned rows", Returned_Counts'Access);
      Add ("notices", Notices'Access);
      Add ("session state between leases", Leases'Access);
      Add ("reset sessions", Reset_Session'Access);
      return Result;
   end Suite;

end Parity_Tests;
