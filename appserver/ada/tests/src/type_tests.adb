--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

with Ada.Streams;
with Appserver.SQL.Intervals;
with AUnit.Assertions;
with AUnit.Test_Caller;
with AUnit.Test_Fixtures;
with Checks;

package body Type_Tests is

   use AUnit.Assertions;
   use Checks;
   use Database;
   use type Ada.Streams.Stream_Element_Offset;
   use type SQL.Blob;
   use type SQL.Date;
   use type SQL.Integer_32;
   use type SQL.Integer_64;
   use type SQL.Time_Of_Day;
   use type SQL.UUID;

   type Fixture is new AUnit.Test_Fixtures.Test_Fixture with record
      DB     : Connection;
      Insert : Statement;
      Query  : Statement;
   end record;

   overriding procedure Set_Up (T : in out Fixture);
   overriding procedure Tear_Down (T : in out Fixture);

   overriding procedure Set_Up (T : in out Fixture) is
   begin
      Open (T.DB);
   end Set_Up;

   overriding procedure Tear_Down (T : in out Fixture) is
   begin
      T.DB.Close;
   end Tear_Down;

   --  With both kinds of statements, alone in a row, and next to a timestamp, which changes the
   --  format of a row in PostgreSQL

   type Way is (Prepared, Used);

   procedure Begin_Insert (T : in out Fixture; By : Way) is
      Text : constant String := "INSERT INTO t VALUES (1, ?)";
   begin
      T.DB.Execute ("DELETE FROM t");
      case By is
         when Prepared => Prepare (T.Insert, T.DB, Text);
         when Used     => Prepare_Client_Side (T.Insert, T.DB, Text);
      end case;
   end Begin_Insert;

   procedure Check_Rows
     (T     : in out Fixture;
      Check : not null access procedure (Query : in out Statement))
   is
      procedure Check_Row is
      begin
         Assert (T.Query.Step, "a row");
         Check (T.Query);
         Assert (not T.Query.Step, "one row");
      end Check_Row;
   begin
      Prepare (T.Query, T.DB, "SELECT x FROM t");
      Check_Row;
      Prepare (T.Query, T.DB, "SELECT x, CURRENT_TIMESTAMP FROM t");
      Check_Row;
      Prepare_Client_Side (T.Query, T.DB, "SELECT x FROM t");
      Check_Row;
   end Check_Rows;

   procedure Make_Table (T : in out Fixture; Column_Type : String) is
   begin
      T.DB.Execute ("CREATE TABLE t (id integer, x " & Column_Type & ")");
   end Make_Table;

   procedure Blobs (T : in out Fixture) is

      procedure Comes_Back (Value : SQL.Blob) is
         procedure Check (Query : in out Statement) is
         begin
            Assert (not Query.Is_Null (1), "the value is not null");
            Assert (Query.As_Blob (1) = Value, "a blob of" & Value'Length'Image);
         end Check;
      begin
         for By in Way loop
            Begin_Insert (T, By);
            T.Insert.Bind (1, Value);
            T.Insert.Execute;
            Check_Rows (T, Check'Access);
         end loop;
      end Comes_Back;

      Bytes : constant SQL.Blob (1 .. 256) :=
        [for I in Ada.Streams.Stream_Element_Offset range 1 .. 256 => SQL.Byte (I - 1)];
      Long  : constant SQL.Blob (7 .. 1_000_006) := [others => 16#DE#];

      procedure Read is
      begin
         Assert (T.Query.As_Blob (1)'Length = 0, "unreachable");
      end Read;
   begin
      Make_Table (T, Dialect.Blob.all);
      Comes_Back ([1 .. 0 => 0]);
      Comes_Back ([0]);
      Comes_Back (Bytes);
      Comes_Back (Bytes (40 .. 42));
      Comes_Back (Long);
      T.Insert.Bind_Null (1);
      T.Insert.Execute;
      Prepare (T.Query, T.DB, "SELECT x FROM t WHERE x IS NULL");
      Assert (T.Query.Step, "a row");
      Is_Refused (Read'Access, "22002", "column 1");
      --  A text is stored as its bytes, even in a parameter to which a blob was bound before
      Prepare (T.Query, T.DB, "SELECT 'abc'");
      Assert (T.Query.Step and then T.Query.As_Blob (1) = [97, 98, 99], "a text");
      Begin_Insert (T, Prepared);
      T.Insert.Bind (1, Bytes);
      T.Insert.Bind (1, "text");
      T.Insert.Execute;
      Prepare (T.Query, T.DB, "SELECT x FROM t");
      Assert (T.Query.Step and then T.Query.As_Blob (1) = [116, 101, 120, 116], "bytes of a text");
   end Blobs;

   procedure Booleans (T : in out Fixture) is
      procedure Read is
      begin
         Assert (not T.Query.As_Boolean (1), "unreachable");
      end Read;
   begin
      Make_Table (T, "boolean");
      for By in Way loop
         for Value in Boolean loop
            declare
               procedure Check (Query : in out Statement) is
               begin
                  Assert (Query.As_Boolean (1) = Value, Value'Image);
               end Check;
            begin
               Begin_Insert (T, By);
               T.Insert.Bind (1, Value);
               T.Insert.Execute;
               Check_Rows (T, Check'Access);
               Prepare (T.Query, T.DB, "SELECT count(*) FROM t WHERE x = ?");
               T.Query.Bind (1, Value);
               Assert (T.Query.Step and then T.Query.As_Integer_64 (1) = 1, "found");
            end;
         end loop;
      end loop;
      Prepare (T.Query, T.DB, "SELECT 2");
      Assert (T.Query.Step, "a row");
      Is_Refused (Read'Access, "22018", "column 1");
      Prepare (T.Query, T.DB, "SELECT NULL");
      Assert (T.Query.Step, "a row");
      Is_Refused (Read'Access, "22002", "column 1");
   end Booleans;

   procedure Dates (T : in out Fixture) is

      type Date_List is array (Positive range <>) of SQL.Date;

      procedure Is_None (Text : String; State : SQL.SQL_State) is
         procedure Read is
         begin
            Assert (T.Query.As_Date (1) = (1, 1, 1), "unreachable");
         end Read;
      begin
         Prepare (T.Query, T.DB, "SELECT '" & Text & "'");
         Assert (T.Query.Step, "a row");
         Is_Refused (Read'Access, State, Text);
      end Is_None;

      --  Ada does not check the date when a component is changed

      procedure Is_No_Day (Year, Month, Day : Positive) is
         Changed : SQL.Date := (2024, 1, 31);

         procedure Bind_Invalid is
         begin
            T.Insert.Bind (1, SQL.Date'(Year, Month, Day));
         end Bind_Invalid;

         procedure Bind_Changed is
         begin
            T.Insert.Bind (1, Changed);
         end Bind_Changed;
      begin
         Is_Misuse (Bind_Invalid'Access, "the day does not exist");
         Changed.Day   := Day;
         Changed.Month := Month;
         Changed.Year  := Year;
         Is_Misuse (Bind_Changed'Access, "the day does not exist");
      end Is_No_Day;
   begin
      Make_Table (T, "date");
      for By in Way loop
         for Value of Date_List'[(1000, 1, 1), (2000, 2, 29), (2026, 11, 23), (9999, 12, 31)] loop
            declare
               procedure Check (Query : in out Statement) is
               begin
                  Assert (Query.As_Date (1) = Value, Query.As_Text (1));
               end Check;
            begin
               Begin_Insert (T, By);
               T.Insert.Bind (1, Value);
               T.Insert.Execute;
               Check_Rows (T, Check'Access);
            end;
         end loop;
      end loop;
      Is_No_Day (2023, 2, 29);
      Is_No_Day (2023, 2, 30);
      Is_No_Day (1900, 2, 29);
      Is_No_Day (2026, 4, 31);
      Is_None ("2026-02-29", "22008");
      Is_None ("0000-01-01", "22008");
      Is_None ("2026-13-01", "22008");
      Is_None ("2026-00-01", "22008");
      Is_None ("2026-11-23 09:15:00", "22007");
      Is_None ("26-11-23", "22007");
      Is_None ("2026-1a-23", "22007");
      Is_None ("", "22007");
   end Dates;

   procedure Times (T : in out Fixture) is

      type Time_List is array (Positive range <>) of SQL.Time_Of_Day;

      function Read (Text : String) return SQL.Time_Of_Day is
      begin
         Prepare (T.Query, T.DB, "SELECT '" & Text & "'");
         Assert (T.Query.Step, "a row");
         return T.Query.As_Time_Of_Day (1);
      end Read;

      procedure Is_None (Text : String; State : SQL.SQL_State) is
         procedure Read is
         begin
            Assert (Times.Read (Text) = (others => 0), "unreachable");
         end Read;
      begin
         Is_Refused (Read'Access, State, Text);
      end Is_None;
   begin
      Make_Table (T, "time(6)");
      for By in Way loop
         for Value of Time_List'[(0, 0, 0, 0), (9, 15, 0, 123_000), (23, 59, 59, 999_999)] loop
            declare
               procedure Check (Query : in out Statement) is
               begin
                  Assert (Query.As_Time_Of_Day (1) = Value, Query.As_Text (1));
               end Check;
            begin
               Begin_Insert (T, By);
               T.Insert.Bind (1, Value);
               T.Insert.Execute;
               Check_Rows (T, Check'Access);
            end;
         end loop;
      end loop;
      Assert (Read ("09:15") = (9, 15, 0, 0), "a time without seconds");
      Assert (Read ("09:15:07.5") = (9, 15, 7, 500_000), "tenths");
      Assert (Read ("09:15:07.123456789") = (9, 15, 7, 123_456), "nanoseconds are truncated");
      Is_None ("24:00:00", "22008");
      Is_None ("09:60:00", "22008");
      Is_None ("09:15:61", "22008");
      Is_None ("-1:15:00", "22007");
      Is_None ("9:15", "22007");
      Is_None ("09:15:00+02", "22007");
      Is_None ("09:15:00.", "22007");
      Is_None ("109:15:00", "22007");
      Is_None ("", "22007");
   end Times;

   ---------------
   -- Intervals --
   ---------------

   package Intervals renames Appserver.SQL.Intervals;

   use type Intervals.Interval;

   type String_List is array (Positive range <>) of Test_Databases.Text_Reference;

   function "+" (Text : String) return Test_Databases.Text_Reference
     renames Test_Databases."+";

   type Interval_List is array (Positive range <>) of Intervals.Interval;

   Max : constant SQL.Integer_64 := SQL.Integer_64'Last;

   procedure Come_Back
     (T     : in out Fixture;
      Items : Interval_List;
      Bind  : not null access procedure
        (To : in out SQL.Statement'Class; Parameter : Positive; Value : Intervals.Interval)) is
   begin
      for By in Way loop
         for Value of Items loop
            declare
               procedure Check (Query : in out Statement) is
               begin
                  Assert
                    (Intervals.As_Interval (Query, 1) = Value,
                     Intervals.Image (Value) & " came back as " & Query.As_Text (1));
               end Check;
            begin
               Begin_Insert (T, By);
               Bind (T.Insert, 1, Value);
               T.Insert.Execute;
               Check_Rows (T, Check'Access);
            end;
         end loop;
      end loop;
   end Come_Back;

   procedure All_Intervals (T : in out Fixture) is
   begin
      Make_Table (T, (if Dialect.Name.all = "PostgreSQL" then "interval" else "varchar(100)"));
      Come_Back
        (T,
         [(0, 0, 0), (14, -3, 93_784_000_500), (-14, 3, -93_784_000_500), (-12, 0, 0), (0, 1, -1),
          (0, -1, 1), (0, 0, -500_000), (0, 0, 59_999_999), (1, 1, -60_000_000),
          (2_147_483_647, 0, 0), (-2_147_483_647, -2_147_483_647, 0), (0, 0, 2 ** 53 + 1),
          (0, 0, Max), (0, 0, -Max)],
         Intervals.Bind'Access);
   end All_Intervals;

   procedure Spans (T : in out Fixture) is

      Value : Intervals.Interval;

      procedure Bind is
      begin
         Intervals.Bind_Span (T.Insert, 1, Value);
      end Bind;
   begin
      Make_Table
        (T,
         (if Dialect.Name.all = "PostgreSQL" then "interval"
          elsif Dialect.Name.all = "MariaDB" then "time(6)"
          else "text"));
      Come_Back
        (T,
         [(0, 0, 0), (0, 0, -1), (0, 0, 93_784_000_500), (0, 0, -93_784_000_500),
          (0, 0, 3_600_000_000), (0, 0, Intervals.Max_Span), (0, 0, -Intervals.Max_Span)],
         Intervals.Bind_Span'Access);
      for Wrong of Interval_List'
        [(1, 0, 0), (0, 1, 0), (0, 0, Intervals.Max_Span + 1),
         (0, 0, -Intervals.Max_Span - 1)]
      loop
         Value := Wrong;
         Is_Refused (Bind'Access, "22015", Intervals.Image (Wrong));
      end loop;
      if Dialect.Name.all = "MariaDB" then
         declare
            procedure Execute is
            begin
               T.Insert.Execute;
            end Execute;
         begin
            Intervals.Bind (T.Insert, 1, (0, 1, 0));
            Is_Refused (Execute'Access, "22007", "time");
         end;
      end if;
   end Spans;

   procedure Interval_Texts (T : in out Fixture) is

      function Read (Text : String) return Intervals.Interval is
      begin
         Prepare (T.Query, T.DB, "SELECT '" & Text & "'");
         Assert (T.Query.Step, "a row");
         return Intervals.As_Interval (T.Query, 1);
      end Read;

      procedure Is_None (Text : String; State : SQL.SQL_State := "22007") is
         procedure Read_Value is
         begin
            Assert (Read (Text) = (0, 0, 0), "unreachable");
         end Read_Value;
      begin
         Is_Refused (Read_Value'Access, State, Text);
      end Is_None;

      Second : constant := 1_000_000;
   begin
      Assert (Intervals.Image ((14, -3, 93_784_000_500)) = "P14M-3DT26H3M4.000500S", "image");
      Assert
        (Intervals.Image ((0, 0, -500)) = "PT-0.000500S", "the image of a fraction of a second");
      Assert (Read ("P1Y2M3W4DT5H6M7.5S") = (14, 25, 18_367_500_000), "ISO 8601");
      Assert (Read ("1 year 2 mons -3 days +04:05:06.789") = (14, -3, 14_706_789_000), "words");
      Assert (Read ("-1 years -1 mons +1 day") = (-13, 1, 0), "signs");
      Assert (Read ("-00:00:00.5") = (0, 0, -Second / 2), "a negative time span");
      Assert (Read ("100:00") = (0, 0, 360_000 * Second), "a time span without seconds");
      for Text of String_List'
        [+"", +"P", +"PT", +"P1", +"1", +"P1H", +"PT1D", +"PT1H ", +"1 day 2", +"1 week", +"1-2",
         +"1:2:3", +"01:60:00", +"01:00:60", +"01:00:-1", +"1 day  1 day", +"infinity", +"--1 day",
         +"04:05:06 1 day", +"@ 1 day ago", +"P1MT"]
      loop
         Is_None (Text.all);
      end loop;
      Is_None ("PT0.0000001S", "22015");
      Is_None ("P1.5D", "22015");
      Is_None ("P2147483648M", "22015");
      Is_None ("P-2147483649D", "22015");
      Is_None ("PT9223372036854775807H", "22015");
      Is_None ("PT99999999999999999999S", "22015");
   end Interval_Texts;

   procedure UUIDs (T : in out Fixture) is

      Example : constant SQL.UUID :=
        [16#f8#, 16#1d#, 16#4f#, 16#ae#, 16#7d#, 16#ec#, 16#11#, 16#d0#,
         16#a7#, 16#65#, 16#00#, 16#a0#, 16#c9#, 16#1e#, 16#6b#, 16#f6#];
      Text : constant String := "f81d4fae-7dec-11d0-a765-00a0c91e6bf6";

      procedure Check (Query : in out Statement) is
      begin
         Assert (Query.As_UUID (1) = Example, Query.As_Text (1));
      end Check;

      procedure Read is
      begin
         Assert (T.Query.As_UUID (1) = Example, "unreachable");
      end Read;

      procedure Misread is
      begin
         Assert (SQL.To_UUID (Text (1 .. 35)) = Example, "unreachable");
      end Misread;
   begin
      Assert (SQL.Image (Example), Text, "its image");
      Assert (SQL.To_UUID (Text) = Example, "read");
      Assert
        (SQL.To_UUID ("F81D4FAE-7DEC-11D0-A765-00A0C91E6BF6") = Example, "a UUID in upper case");
      Assert (not SQL.Is_UUID (Text & "0") and then not SQL.Is_UUID ("g" & Text (2 .. 36)), "none");
      Is_Misuse (Misread'Access, "not a UUID");
      Make_Table (T, "uuid");
      for By in Way loop
         Begin_Insert (T, By);
         T.Insert.Bind (1, Example);
         T.Insert.Execute;
         Check_Rows (T, Check'Access);
      end loop;
      Prepare (T.Query, T.DB, "SELECT 'f81d4fae7dec'");
      Assert (T.Query.Step, "a row");
      Is_Refused (Read'Access, "22018", "not a UUID");
      if Dialect.Name.all /= "PostgreSQL" then
         T.DB.Execute ("DROP TABLE t");
         Make_Table (T, Dialect.Blob.all);
         Begin_Insert (T, Prepared);
         T.Insert.Bind
           (1, SQL.Blob'([for I in Ada.Streams.Stream_Element_Offset range 1 .. 16 =>
                            SQL.Byte (Example (Positive (I)))]));
         T.Insert.Execute;
         Check_Rows (T, Check'Access);
      end if;
   end UUIDs;

   procedure Keys (T : in out Fixture) is
   begin
      T.DB.Execute
        ("CREATE TABLE t (id " & Dialect.Serial.all & " PRIMARY KEY, x varchar(20))");
      Prepare (T.Insert, T.DB, "INSERT INTO t (x) VALUES (?)");
      for Id in SQL.Integer_64 range 1 .. 2 loop
         T.Insert.Bind (1, "a");
         T.Insert.Execute;
         Assert (T.DB.Last_Insert_Id = Id, "prepared" & T.DB.Last_Insert_Id'Image);
      end loop;
      T.DB.Execute ("INSERT INTO t (x) VALUES ('b')");
      Assert
        (T.DB.Last_Insert_Id = 3, "the key of the last row, as text" & T.DB.Last_Insert_Id'Image);
      for By in Way loop
         case By is
            when Prepared =>
               Prepare (T.Insert, T.DB, "INSERT INTO t (x) VALUES (?), (?) RETURNING id");
            when Used =>
               Prepare_Client_Side
                 (T.Insert, T.DB, "INSERT INTO t (x) VALUES (?), (?) RETURNING id");
         end case;
         T.Insert.Bind (1, "c");
         T.Insert.Bind (2, "d");
         for Id in SQL.Integer_64 range 4 .. 5 loop
            Assert (T.Insert.Step, "a row");
            Assert
              (T.Insert.As_Integer_64 (1) = Id + 2 * Way'Pos (By), "returned: " & By'Image);
         end loop;
         Assert (not T.Insert.Step, "two rows");
      end loop;
   end Keys;

   package Caller is new AUnit.Test_Caller (Fixture);

   function Suite return AUnit.Test_Suites.Access_Test_Suite is
      Result : constant AUnit.Test_Suites.Access_Test_Suite := AUnit.Test_Suites.New_Suite;

      procedure Add (Name : String; Test : Caller.Test_Method) is
      begin
         Result.Add_Test (Caller.Create (Dialect.Name.all & ": " & Name, Test));
      end Add;
   begin
      Add ("blobs", Blobs'Access);
      Add ("Booleans", Booleans'Access);
      Add ("dates", Dates'Access);
      Add ("times of the day", Times'Access);
      Add ("intervals", All_Intervals'Access);
      Add ("time spans", Spans'Access);
      Add ("texts of intervals", Interval_Texts'Access);
      Add ("UUIDs", UUIDs'Access);
      Add ("generated keys", Keys'Access);
      return Result;
   end Suite;

end Type_Tests;
