--  SPDX-License-Identifier: Apache-2.0

with AUnit.Assertions;
with AUnit.Test_Caller;
with AUnit.Test_Fixtures;
with Checks;

package body Value_Tests is

   use AUnit.Assertions;
   use Checks;
   use type SQL.Integer_32;
   use type SQL.Integer_64;

   type Fixture is new AUnit.Test_Fixtures.Test_Fixture with record
      DB   : SQLite.Connection;
      Echo : SQLite.Statement;
   end record;

   overriding procedure Set_Up (T : in out Fixture);
   overriding procedure Tear_Down (T : in out Fixture);

   overriding procedure Set_Up (T : in out Fixture) is
   begin
      T.DB.Open (":memory:");
      T.Echo.Prepare (T.DB, "SELECT ?");
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
      Comes_Back ("before" & ASCII.NUL & "after");
      Comes_Back (Long);
      T.Echo.Prepare (T.DB, "SELECT length(?)");
      T.Echo.Bind (1, Unicode);
      Fetch (T);
      Assert (T.Echo.As_Integer_64 (1) = 10, "SQLite counts 10 characters");
   end Texts;

   --  As a part of a string, with bounds that do not begin at 1, and in the statement's own text

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
      T.Echo.Bind (1, 17);
      T.Echo.Bind_Null (1);
      Refuse_All;
   end Nulls;

   --  Values stay bound from run to run

   procedure Bound_Again (T : in out Fixture) is
   begin
      T.Echo.Prepare (T.DB, "SELECT ? || ?");
      T.Echo.Bind (1, "a");
      T.Echo.Bind (2, "b");
      Fetch (T);
      Assert (T.Echo.As_Text (1), "ab", "both");
      Assert (not T.Echo.Step, "one row only");
      T.Echo.Bind (2, "c");
      Fetch (T);
      Assert (T.Echo.As_Text (1), "ac", "the first is kept");
   end Bound_Again;

   procedure Many_Rows (T : in out Fixture) is
      Sum  : SQL.Integer_64 := 0;
      Rows : Natural := 0;
   begin
      T.Echo.Prepare
        (T.DB,
         "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100)"
         & " SELECT i, 'row ' || i FROM n");
      for Time in 1 .. 2 loop
         while T.Echo.Step loop
            Rows := Rows + 1;
            Sum  := Sum + T.Echo.As_Integer_64 (1);
            Assert (T.Echo.Column_Count = 2, "columns");
         end loop;
         Assert (not T.Echo.Has_Row and then T.Echo.Column_Count = 0, "after the last row");
      end loop;
      Assert (Rows = 200 and then Sum = 2 * 5_050, "the same rows each time");
   end Many_Rows;

   procedure Affected (T : in out Fixture) is
   begin
      T.DB.Execute ("CREATE TABLE t (x)");
      T.DB.Execute ("INSERT INTO t VALUES (1), (2), (3)");
      Assert (T.DB.Rows_Affected = 3, "inserted");
      T.DB.Execute ("UPDATE t SET x = 0 WHERE x > 1");
      Assert (T.DB.Rows_Affected = 2, "updated");
   end Affected;

   --  SQLite prepares a statement anew if the schema changed: the new columns can be read

   procedure New_Columns (T : in out Fixture) is
   begin
      T.DB.Execute ("CREATE TABLE t (x)");
      T.DB.Execute ("INSERT INTO t VALUES (1)");
      T.Echo.Prepare (T.DB, "SELECT * FROM t");
      Fetch (T);
      Assert (T.Echo.Column_Count = 1, "one column");
      T.Echo.Reset;
      T.DB.Execute ("ALTER TABLE t ADD COLUMN y DEFAULT 2");
      Fetch (T);
      Assert (T.Echo.Column_Count = 2, "two columns");
      Assert (T.Echo.As_Integer_64 (2) = 2, "the new one");
   end New_Columns;

   --  A program that knows no database by name

   procedure Any_Database (T : in out Fixture) is

      function Sum (DB : in out SQL.Connection'Class; Text : String) return SQL.Integer_64 is
         Query : SQL.Statement'Class := DB.Prepare (Text);
         Total : SQL.Integer_64 := 0;
      begin
         Assert (Query.Parameter_Count = 1, "one parameter");
         Query.Bind (1, 10);
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
      Is_Refused (Wrong_Text'Access, "42601", "SELEKT");
      T.DB.Close;
   end Any_Database;

   package Caller is new AUnit.Test_Caller (Fixture);

   function Suite return AUnit.Test_Suites.Access_Test_Suite is
      Result : constant AUnit.Test_Suites.Access_Test_Suite := AUnit.Test_Suites.New_Suite;
   begin
      Result.Add_Test (Caller.Create ("64-bit integers", Integers'Access));
      Result.Add_Test (Caller.Create ("32-bit integers", Short_Integers'Access));
      Result.Add_Test (Caller.Create ("floats", Floats'Access));
      Result.Add_Test (Caller.Create ("texts, UTF-8, empty, with NUL", Texts'Access));
      Result.Add_Test (Caller.Create ("slices of strings", Slices'Access));
      Result.Add_Test (Caller.Create ("nulls are not values", Nulls'Access));
      Result.Add_Test (Caller.Create ("values stay bound", Bound_Again'Access));
      Result.Add_Test (Caller.Create ("many rows, twice", Many_Rows'Access));
      Result.Add_Test (Caller.Create ("rows affected", Affected'Access));
      Result.Add_Test (Caller.Create ("columns that came later", New_Columns'Access));
      Result.Add_Test (Caller.Create ("through the neutral types", Any_Database'Access));
      return Result;
   end Suite;

end Value_Tests;
