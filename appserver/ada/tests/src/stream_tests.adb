--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

with AUnit.Assertions;
with AUnit.Test_Caller;
with AUnit.Test_Fixtures;
with Checks;

package body Stream_Tests is

   use AUnit.Assertions;
   use Checks;
   use Database;
   use type SQL.Integer_64;

   type Fixture is new AUnit.Test_Fixtures.Test_Fixture with record
      DB    : aliased Connection;
      Query : Statement;
   end record;

   overriding procedure Set_Up (T : in out Fixture);
   overriding procedure Tear_Down (T : in out Fixture);

   overriding procedure Set_Up (T : in out Fixture) is
   begin
      Open (T.DB);
      T.DB.Execute ("CREATE TABLE t (i integer)");
      T.DB.Execute
        ("INSERT INTO t WITH RECURSIVE n (i) AS"
         & " (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300) SELECT i FROM n");
   end Set_Up;

   overriding procedure Tear_Down (T : in out Fixture) is
   begin
      T.DB.Close;
   end Tear_Down;

   Pairs : constant String := "SELECT a.i, b.i FROM t a CROSS JOIN t b WHERE a.i > ?";
   --  300 times 300 rows, if all are requested

   type Way is (Prepared, Used);

   procedure Start (T : in out Fixture; By : Way; Text : String := Pairs) is
   begin
      case By is
         when Prepared => Prepare (T.Query, T.DB, Text);
         when Used     => Prepare_Client_Side (T.Query, T.DB, Text);
      end case;
      T.Query.Set_Streamed;
      if T.Query.Parameter_Count > 0 then
         T.Query.Bind (1, SQL.Integer_64'(0));
      end if;
   end Start;

   procedure Reads_All (T : in out Fixture) is
      Rows : Natural := 0;
      Sum  : SQL.Integer_64 := 0;
   begin
      while T.Query.Step loop
         Rows := Rows + 1;
         Sum  := Sum + T.Query.As_Integer_64 (1) * T.Query.As_Integer_64 (2);
      end loop;
      Assert (Rows = 90_000, "rows:" & Rows'Image);
      Assert (Sum = 45_150 ** 2, "sum:" & Sum'Image);
   end Reads_All;

   procedure All_Rows (T : in out Fixture) is
   begin
      for By in Way loop
         Start (T, By);
         Assert (T.Query.Is_Streamed, "streamed");
         Reads_All (T);
         Answers (T.DB, "SELECT count(*) FROM t", "300");
         Reads_All (T);
         T.Query.Bind (1, SQL.Integer_64'(300));
         Assert (not T.Query.Step, "no rows");
         T.Query.Bind (1, SQL.Integer_64'(0));
         T.Query.Set_Streamed (False);
         Reads_All (T);
      end loop;
   end All_Rows;

   procedure Leaves_Rows (T : in out Fixture) is
   begin
      for By in Way loop
         Start (T, By);
         for Time in 1 .. 2 loop
            Assert (T.Query.Step and then T.Query.Step, "rows");
            T.Query.Reset;
            Answers (T.DB, "SELECT count(*) FROM t", "300");
         end loop;
         Assert (T.Query.Step, "a row");
         T.Query.Close;
         Answers (T.DB, "SELECT count(*) FROM t", "300");
         Start (T, By);
         T.Query.Execute;
         Answers (T.DB, "SELECT count(*) FROM t", "300");
      end loop;
   end Leaves_Rows;

   --  Long values, with a longer one in each row

   procedure Long_Values (T : in out Fixture) is
      Text : constant String (1 .. 100_000) := [others => 'x'];
   begin
      T.DB.Execute ("CREATE TABLE account (i integer, x varchar(10000))");
      Prepare (T.Query, T.DB, "INSERT INTO account VALUES (?, ?)");
      for I in 1 .. 10 loop
         T.Query.Bind (1, SQL.Integer_64 (I));
         T.Query.Bind (2, Text (1 .. 1_000 * I));
         T.Query.Execute;
      end loop;
      for By in Way loop
         Start (T, By, "SELECT x FROM account ORDER BY i");
         for I in 1 .. 10 loop
            Assert
              (T.Query.Step and then T.Query.As_Text (1) = Text (1 .. 1_000 * I),
               "the text in the row");
         end loop;
         Assert (not T.Query.Step, "there are no more rows");
      end loop;
   end Long_Values;

   procedure In_Work (T : in out Fixture) is

      procedure Fail is
         Work : SQL.Transaction (T.DB'Access) with Unreferenced;
      begin
         T.DB.Execute ("DELETE FROM t WHERE i > 250");
         Assert (T.Query.Step, "a row");
         raise SQL.SQL_Error with "on the way";
      end Fail;

      procedure Fail_In_Part is
         Part : SQL.Savepoint (T.DB'Access) with Unreferenced;
      begin
         T.DB.Execute ("DELETE FROM t WHERE i > 250");
         Assert (T.Query.Step, "a row");
         Assert (not T.DB.In_Autocommit, "the transaction is open");
         raise SQL.SQL_Error with "on the way";
      end Fail_In_Part;
   begin
      for By in Way loop
         Start (T, By);
         Is_Refused (Fail'Access, "HY000", "on the way");
         Assert (T.DB.In_Autocommit, "over");
         Answers (T.DB, "SELECT count(*) FROM t", "300");
         declare
            Work : SQL.Transaction (T.DB'Access);
         begin
            Is_Refused (Fail_In_Part'Access, "HY000", "on the way");
            Work.Commit;
         end;
         Answers (T.DB, "SELECT count(*) FROM t", "300");
      end loop;
   end In_Work;

   procedure Misused (T : in out Fixture) is
      procedure Set is
      begin
         T.Query.Set_Streamed (False);
      end Set;
   begin
      Is_Misuse (Set'Access, "not open");
      Start (T, Prepared);
      Assert (T.Query.Step, "a row");
      Is_Misuse (Set'Access, "being read");
   end Misused;

   -------------
   -- Servers --
   -------------

   procedure Busy (T : in out Fixture) is
      Other : Statement;

      procedure Execute is
      begin
         T.DB.Execute ("SELECT 1");
      end Execute;

      procedure Prepare_Other is
      begin
         Prepare (Other, T.DB, "SELECT 1");
      end Prepare_Other;

      procedure Refuses (Act : not null access procedure; Words : String) is
      begin
         Act.all;
         Assert (False, "no error while a stream is open: " & Words);
      exception
         when Error : SQL.SQL_Error =>
            Assert (SQL.State_Of (Error) in "HY010" | "HY000", SQL.Message_Of (Error));
      end Refuses;

      Rows : Natural := 0;
   begin
      for By in Way loop
         Rows := 0;
         Prepare (Other, T.DB, "SELECT 1");
         Start (T, By);
         while T.Query.Step loop
            Rows := Rows + 1;
            if Rows = 10 then
               Other.Close;
            end if;
            if Rows in 1 | 50_000 then
               Refuses (Execute'Access, "executed" & By'Image & Rows'Image);
               Refuses (Prepare_Other'Access, "prepared" & By'Image & Rows'Image);
            end if;
         end loop;
         Assert (Rows = 90_000, "all rows were read:" & Rows'Image);
      end loop;
   end Busy;

   package Caller is new AUnit.Test_Caller (Fixture);

   procedure Add
     (To : in out AUnit.Test_Suites.Test_Suite'Class; Name : String; Test : Caller.Test_Method) is
   begin
      To.Add_Test (Caller.Create (Dialect.Name.all & ": stream: " & Name, Test));
   end Add;

   function Suite return AUnit.Test_Suites.Access_Test_Suite is
      Result : constant AUnit.Test_Suites.Access_Test_Suite := AUnit.Test_Suites.New_Suite;
   begin
      Add (Result.all, "all rows", All_Rows'Access);
      Add (Result.all, "unread rows", Leaves_Rows'Access);
      Add (Result.all, "long values", Long_Values'Access);
      Add (Result.all, "a stream in a transaction that is rolled back", In_Work'Access);
      Add (Result.all, "misuse", Misused'Access);
      return Result;
   end Suite;

   function Server_Suite return AUnit.Test_Suites.Access_Test_Suite is
      Result : constant AUnit.Test_Suites.Access_Test_Suite := AUnit.Test_Suites.New_Suite;
   begin
      Add (Result.all, "one stream at a time", Busy'Access);
      return Result;
   end Server_Suite;

end Stream_Tests;
