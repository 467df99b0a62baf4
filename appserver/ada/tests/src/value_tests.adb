--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

with Ada.Calendar.Formatting;
with AUnit.Assertions;
with AUnit.Test_Caller;
with AUnit.Test_Fixtures;
with Checks;

package body Value_Tests is

   use AUnit.Assertions;
   use Checks;
   use Database;
   use type SQL.Integer_32;
   use type SQL.Integer_64;

   type Fixture is new AUnit.Test_Fixtures.Test_Fixture with record
      DB   : Connection;
      Echo : Statement;
   end record;

   overriding procedure Set_Up (T : in out Fixture);
   overriding procedure Tear_Down (T : in out Fixture);

   overriding procedure Set_Up (T : in out Fixture) is
   begin
      Open (T.DB);
      Prepare (T.Echo, T.DB, "SELECT ?");
   end Set_Up;

   overriding procedure Tear_Down (T : in out Fixture) is
   begin
      T.DB.Close;
   end Tear_Down;

   type Integer_List is array (Positive range <>) of SQL.Integer_64;
   type Float_List is array (Positive range <>) of Long_Float;

   procedure Fetch (T : in out Fixture) is
   begin
      Assert (T.Echo.Step, "a row");
   end Fetch;

   procedure Integers (T : in out Fixture) is
   begin
      for Value of Integer_List'
        [SQL.Integer_64'First, -1, 0, 1, 2 ** 53 + 1, SQL.Integer_64'Last]
      loop
         T.Echo.Bind (1, Value);
         Fetch (T);
         Assert (T.Echo.As_Integer_64 (1) = Value, Value'Image);
         Assert (not T.Echo.Is_Null (1), Value'Image & " is not null");
         T.Echo.Reset;
      end loop;
   end Integers;

   procedure Short_Integers (T : in out Fixture) is
      procedure Read is
         Value : constant SQL.Integer_32 := T.Echo.As_Integer_32 (1);
      begin
         Assert (False, "read" & Value'Image);
      end Read;
   begin
      for Value of Integer_List'[-2 ** 31, -1, 0, 2 ** 31 - 1] loop
         T.Echo.Bind (1, Value);
         Fetch (T);
         Assert (SQL.Integer_64 (T.Echo.As_Integer_32 (1)) = Value, Value'Image);
         T.Echo.Reset;
      end loop;
      for Value of Integer_List'[-2 ** 31 - 1, 2 ** 31, SQL.Integer_64'Last] loop
         T.Echo.Bind (1, Value);
         Fetch (T);
         Is_Refused (Read'Access, "22003", "column 1");
         T.Echo.Reset;
      end loop;
   end Short_Integers;

   procedure Floats (T : in out Fixture) is
   begin
      for Value of Float_List'
        [Long_Float'First, -0.1, 0.0, 1.0 / 3.0, Long_Float'Model_Small, Long_Float'Last]
      loop
         T.Echo.Bind (1, Value);
         Fetch (T);
         Assert (T.Echo.As_Float (1) = Value, Value'Image);
         T.Echo.Reset;
      end loop;
   end Floats;

   procedure Texts (T : in out Fixture) is

      procedure Comes_Back (Text : SQL.UTF_8_String) is
      begin
         T.Echo.Bind (1, Text);
         Fetch (T);
         Assert (T.Echo.As_Text (1), Text, "text");
         Assert (not T.Echo.Is_Null (1), "a text is not null");
         T.Echo.Reset;
      end Comes_Back;

      Nothing : String (1 .. 0);
      --  "naïve 日本 🙂", as UTF-8
      Unicode : constant SQL.UTF_8_String :=
        "na" & Character'Val (16#C3#) & Character'Val (16#AF#) & "ve "
        & Character'Val (16#E6#) & Character'Val (16#97#) & Character'Val (16#A5#)
        & Character'Val (16#E6#) & Character'Val (16#9C#) & Character'Val (16#AC#) & " "
        & Character'Val (16#F0#) & Character'Val (16#9F#) & Character'Val (16#99#)
        & Character'Val (16#82#);
      Long    : constant String (1 .. 1_000_000) := [others => 'x'];
   begin
      Comes_Back ("");
      Comes_Back (Nothing);
      Comes_Back ("it's");
      Comes_Back (Unicode);
      if Dialect.Holds_NUL then
         Comes_Back ("before" & ASCII.NUL & "after");
      end if;
      Comes_Back (Long);
      Prepare (T.Echo, T.DB, "SELECT " & Dialect.Length.all & "(?)");
      T.Echo.Bind (1, Unicode);
      Fetch (T);
      Assert (T.Echo.As_Integer_64 (1) = 10, "the text has 10 characters");
   end Texts;

   --  Slices of strings, with bounds that do not begin at 1, for values and for the text of a
   --  statement

   procedure Slices (T : in out Fixture) is
      Text : constant String := "?SELECT 'inner'?";
   begin
      T.Echo.Bind (1, Text (9 .. 15));
      Fetch (T);
      Assert (T.Echo.As_Text (1), "'inner'", "a slice");
      Answers (T.DB, Text (2 .. 15), "inner");
   end Slices;

   procedure Nulls (T : in out Fixture) is

      procedure Read_Short is
      begin
         Assert (T.Echo.As_Integer_32 (1) = 0, "unreachable");
      end Read_Short;

      procedure Read_Long is
      begin
         Assert (T.Echo.As_Integer_64 (1) = 0, "unreachable");
      end Read_Long;

      procedure Read_Float is
      begin
         Assert (T.Echo.As_Float (1) = 0.0, "unreachable");
      end Read_Float;

      procedure Read_Text is
      begin
         Assert (T.Echo.As_Text (1), "", "unreachable");
      end Read_Text;

      procedure Refuse_All is
      begin
         Fetch (T);
         Assert (T.Echo.Is_Null (1), "null");
         Is_Refused (Read_Short'Access, "22002", "column 1");
         Is_Refused (Read_Long'Access, "22002", "column 1");
         Is_Refused (Read_Float'Access, "22002", "column 1");
         Is_Refused (Read_Text'Access, "22002", "column 1");
         T.Echo.Reset;
      end Refuse_All;

   begin
      Refuse_All;
      T.Echo.Bind (1, SQL.Integer_64'(17));
      T.Echo.Bind_Null (1);
      Refuse_All;
   end Nulls;

   --  Values stay bound between executions

   procedure Bound_Again (T : in out Fixture) is
   begin
      Prepare (T.Echo, T.DB, "SELECT ?, ?");
      T.Echo.Bind (1, "a");
      T.Echo.Bind (2, "b");
      Fetch (T);
      Assert (T.Echo.As_Text (1) & T.Echo.As_Text (2), "ab", "both");
      Assert (not T.Echo.Step, "there is only one row");
      T.Echo.Bind (2, "c");
      Fetch (T);
      Assert (T.Echo.As_Text (1) & T.Echo.As_Text (2), "ac", "the first row is read");
   end Bound_Again;

   procedure Many_Rows (T : in out Fixture) is
      Sum  : SQL.Integer_64 := 0;
      Rows : Natural := 0;
   begin
      Prepare (T.Echo, T.DB,
         "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100)"
         & " SELECT i, i FROM n");
      for Time in 1 .. 2 loop
         while T.Echo.Step loop
            Rows := Rows + 1;
            Sum  := Sum + T.Echo.As_Integer_64 (1);
            Assert (T.Echo.Column_Count = 2, "columns");
         end loop;
         Assert
           (not T.Echo.Has_Row and then T.Echo.Column_Count = 0,
            "no row and no columns after the last row");
      end loop;
      Assert (Rows = 200 and then Sum = 2 * 5_050, "the same rows are read each time");
   end Many_Rows;

   procedure Affected (T : in out Fixture) is
   begin
      T.DB.Execute ("CREATE TABLE t (x integer)");
      T.DB.Execute ("INSERT INTO t VALUES (1), (2), (3)");
      Assert (T.DB.Rows_Affected = 3, "inserted");
      T.DB.Execute ("UPDATE t SET x = 0 WHERE x > 1");
      Assert (T.DB.Rows_Affected = 2, "updated");
   end Affected;

   type Amount is delta 0.000_1 digits 18;
   type Amount_List is array (Positive range <>) of Amount;
   type Small_Amount is delta 0.01 digits 4;

   procedure Bind_Amount is new SQL.Bind_Decimal (Amount);
   function As_Amount is new SQL.As_Decimal (Amount);
   function As_Small is new SQL.As_Decimal (Small_Amount);

   procedure Decimals (T : in out Fixture) is
      procedure Read_Small is
      begin
         Assert (As_Small (T.Echo, 1) = 0.0, "unreachable");
      end Read_Small;
   begin
      Prepare (T.Echo, T.DB, "SELECT CAST(? AS decimal(18, 4))");
      for Value of Amount_List'
        [99_999_999_999.999_9, -99_999_999_999.999_9, 0.1, -0.000_1, 0.0, 12_345.678_9]
      loop
         Bind_Amount (T.Echo, 1, Value);
         Fetch (T);
         Assert (As_Amount (T.Echo, 1) = Value, Value'Image & T.Echo.As_Text (1));
         T.Echo.Reset;
      end loop;
      Bind_Amount (T.Echo, 1, 12.34);
      Fetch (T);
      Assert (As_Small (T.Echo, 1) = 12.34, "a number with fewer digits");
      T.Echo.Reset;
      Bind_Amount (T.Echo, 1, 100.0);
      Fetch (T);
      Is_Refused (Read_Small'Access, "22003", "4 digits");
   end Decimals;

   --  An integral number that is stored as a decimal can be read as an integer

   procedure Whole_Decimals (T : in out Fixture) is
   begin
      T.DB.Execute ("CREATE TABLE t (x integer)");
      T.DB.Execute ("INSERT INTO t VALUES (2000000000), (2000000000)");
      Prepare (T.Echo, T.DB, "SELECT sum(x) FROM t");
      Fetch (T);
      Assert (T.Echo.As_Integer_64 (1) = 4_000_000_000, "the sum");
      Assert (As_Amount (T.Echo, 1) = 4_000_000_000.0, "the sum as a decimal");
      Assert (T.Echo.As_Float (1) = 4_000_000_000.0, "the sum as a float");
   end Whole_Decimals;

   function Moment
     (Year, Month, Day : Positive; Seconds : Duration := 0.0) return Ada.Calendar.Time is
     (Ada.Calendar.Formatting.Time_Of (Year, Month, Day, Seconds => Seconds));

   type Time_List is array (Positive range <>) of Ada.Calendar.Time;

   procedure Times (T : in out Fixture) is
      use type Ada.Calendar.Time;
   begin
      for Value of Time_List'
        [Moment (1970, 1, 1), Moment (2069, 12, 31, 86_399.999), Moment (2000, 2, 29, 0.001),
         Moment (1901, 1, 1), Moment (2399, 12, 31, 86_399.999), Moment (2100, 3, 1, 43_200.5)]
      loop
         T.Echo.Bind (1, Value);
         Fetch (T);
         Assert
           (abs (T.Echo.As_Time (1) - Value) < 0.000_001,
            Ada.Calendar.Formatting.Image (Value, True) & " came back as "
            & T.Echo.As_Text (1));
         T.Echo.Reset;
      end loop;
   end Times;

   procedure Written_Times (T : in out Fixture) is

      procedure Is_Moment (Text : String; Expected : Ada.Calendar.Time) is
         use type Ada.Calendar.Time;
      begin
         T.Echo.Bind (1, Text);
         Fetch (T);
         Assert (T.Echo.As_Time (1) = Expected, Text);
         T.Echo.Reset;
      end Is_Moment;

      procedure Is_None (Text : String; State : SQL.SQL_State) is
         procedure Read is
         begin
            Is_Moment (Text, Moment (1970, 1, 1));
         end Read;
      begin
         Is_Refused (Read'Access, State, "column 1");
         T.Echo.Reset;
      end Is_None;

   begin
      Is_Moment ("2026-11-21", Moment (2026, 11, 21));
      Is_Moment ("2026-11-21T09:15", Moment (2026, 11, 21, 33_300.0));
      Is_Moment ("2026-11-21 09:15:00.25Z", Moment (2026, 11, 21, 33_300.25));
      Is_Moment ("2026-11-21 00:15:00+01:30", Moment (2026, 11, 20, 81_900.0));
      Is_Moment ("2026-11-20 22:00:00-02", Moment (2026, 11, 21));
      Is_None ("2026-02-29", "22008");
      Is_None ("1900-12-31", "22008");
      Is_None ("2026-13-01", "22008");
      Is_None ("2026-11-21 24:00:00", "22008");
      Is_None ("infinity", "22007");
      Is_None ("2026-11-21 09:15:00 BC", "22007");
      Is_None ("2026-11-21 09", "22007");
      Is_None ("", "22007");
   end Written_Times;

   procedure Not_Numbers (T : in out Fixture) is
      procedure Read is
      begin
         Assert (As_Amount (T.Echo, 1) = 0.0, "unreachable");
      end Read;

      type Text_List is array (Positive range <>) of Test_Databases.Text_Reference;
      use Test_Databases;
   begin
      for Text of Text_List'[+"", +"-", +".", +"one", +"1.2.3", +"1 ", +"--1"] loop
         T.Echo.Bind (1, Text.all);
         Fetch (T);
         Is_Refused (Read'Access, "22018", "not a valid number");
         T.Echo.Reset;
      end loop;
   end Not_Numbers;

   --  A statement prepared on the client side supports all types of values. Text that looks like a
   --  parameter, but is in quotes or a comment, is not a parameter.

   procedure Used_Texts (T : in out Fixture) is
      use type Ada.Calendar.Time;

      Hard : constant String := "it's \ ""x"" ? -- $1 /*" & ASCII.LF;
   begin
      Prepare_Client_Side (T.Echo, T.DB, "SELECT ?, ?, ?, '?', ? /* ? */ -- ?");
      Assert (T.Echo.Parameter_Count = 4, "parameters" & T.Echo.Parameter_Count'Image);
      for Time in 1 .. 2 loop
         T.Echo.Bind (1, SQL.Integer_64'First);
         T.Echo.Bind (2, Hard);
         T.Echo.Bind (3, 1.0 / 3.0);
         Fetch (T);
         Assert (T.Echo.As_Integer_64 (1) = SQL.Integer_64'First, "a number");
         Assert (T.Echo.As_Text (2), Hard, "a text");
         Assert (T.Echo.As_Float (3) = 1.0 / 3.0, "a float");
         Assert (T.Echo.As_Text (4), "?", "a question mark in a literal");
         Assert (T.Echo.Is_Null (5), "a parameter that is not bound");
         Assert (not T.Echo.Step, "one row");
      end loop;
      T.Echo.Bind (1, Moment (2026, 11, 21, 33_300.123));
      Bind_Amount (T.Echo, 2, -12.5);
      T.Echo.Bind_Null (3);
      Fetch (T);
      Assert (abs (T.Echo.As_Time (1) - Moment (2026, 11, 21, 33_300.123)) < 0.001, "a time");
      Assert (As_Amount (T.Echo, 2) = -12.5, "a decimal");
      Assert (T.Echo.Is_Null (3), "a parameter that is null again");
   end Used_Texts;

   procedure Named_Columns (T : in out Fixture) is
   begin
      Prepare (T.Echo, T.DB, "SELECT 1 AS one, 2 AS two");
      Fetch (T);
      Assert (T.Echo.Column_Name (1) & T.Echo.Column_Name (2), "onetwo", "names");
   end Named_Columns;

   --  Reads the rows of one statement while another one runs

   procedure Side_By_Side (T : in out Fixture) is
      Other : Statement;
      Sum   : SQL.Integer_64 := 0;
   begin
      Prepare (T.Echo, T.DB, "SELECT 1 UNION ALL SELECT 2");
      Prepare (Other, T.DB, "SELECT 10 UNION ALL SELECT 20");
      while T.Echo.Step loop
         for Row in 1 .. 2 loop
            Assert (Other.Step, "a row");
            Sum := Sum + T.Echo.As_Integer_64 (1) * Other.As_Integer_64 (1);
         end loop;
         Assert (not Other.Step, "two rows");
      end loop;
      Assert (Sum = 90, "all pairs were read");
   end Side_By_Side;

   --  A program that is independent of the database

   procedure Any_Database (T : in out Fixture) is

      function Sum (DB : in out SQL.Connection'Class; Text : String) return SQL.Integer_64 is
         Query : SQL.Statement'Class := DB.Prepare (Text);
         Total : SQL.Integer_64 := 0;
      begin
         Assert (Query.Parameter_Count = 1, "one parameter");
         Query.Bind (1, SQL.Integer_64'(10));
         while Query.Step loop
            Total := Total + Query.As_Integer_64 (1);
         end loop;
         return Total;
      end Sum;

      procedure Wrong_Text is
      begin
         Assert (Sum (T.DB, "SELEKT ?") = 0, "unreachable");
      end Wrong_Text;

   begin
      Assert (Sum (T.DB, "SELECT ? UNION ALL SELECT 5") = 15, "the sum");
      Is_Refused (Wrong_Text'Access, Dialect.Syntax, "SELEKT");
      T.DB.Close;
   end Any_Database;

   package Caller is new AUnit.Test_Caller (Fixture);

   function Suite return AUnit.Test_Suites.Access_Test_Suite is
      Result : constant AUnit.Test_Suites.Access_Test_Suite := AUnit.Test_Suites.New_Suite;

      procedure Add (Name : String; Test : Caller.Test_Method) is
      begin
         Result.Add_Test (Caller.Create (Dialect.Name.all & ": " & Name, Test));
      end Add;
   begin
      Add ("64-bit integers", Integers'Access);
      Add ("32-bit integers", Short_Integers'Access);
      Add ("floats", Floats'Access);
      Add ("texts, UTF-8, empty, with NUL", Texts'Access);
      Add ("string slices", Slices'Access);
      Add ("nulls are not values", Nulls'Access);
      Add ("values stay bound", Bound_Again'Access);
      Add ("many rows, twice", Many_Rows'Access);
      Add ("rows affected", Affected'Access);
      Add ("decimals", Decimals'Access);
      Add ("integral decimals", Whole_Decimals'Access);
      Add ("times", Times'Access);
      Add ("times as text", Written_Times'Access);
      Add ("texts that are not numbers", Not_Numbers'Access);
      Add ("statements prepared on the client", Used_Texts'Access);
      Add ("column names", Named_Columns'Access);
      Add ("concurrent statements", Side_By_Side'Access);
      Add ("class-wide types", Any_Database'Access);
      return Result;
   end Suite;

end Value_Tests;
