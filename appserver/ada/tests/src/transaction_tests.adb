--  SPDX-License-Identifier: Apache-2.0

with AUnit.Assertions;
with AUnit.Test_Caller;
with AUnit.Test_Fixtures;
with Checks;

package body Transaction_Tests is

   use AUnit.Assertions;
   use Checks;

   type Fixture is new AUnit.Test_Fixtures.Test_Fixture with record
      DB : aliased SQLite.Connection;
   end record;

   overriding procedure Set_Up (T : in out Fixture);
   overriding procedure Tear_Down (T : in out Fixture);

   overriding procedure Set_Up (T : in out Fixture) is
   begin
      T.DB.Open (":memory:");
      T.DB.Execute ("CREATE TABLE t (x integer unique)");
   end Set_Up;

   overriding procedure Tear_Down (T : in out Fixture) is
   begin
      T.DB.Close;
   end Tear_Down;

   procedure Insert (T : in out Fixture; Value : String) is
   begin
      T.DB.Execute ("INSERT INTO t VALUES (" & Value & ")");
   end Insert;

   procedure Has_Rows (T : in out Fixture; Count : String) is
   begin
      Assert (T.DB.In_Autocommit, "no transaction is left open");
      Answers (T.DB, "SELECT count(*) FROM t", Count);
   end Has_Rows;

   procedure Committed (T : in out Fixture) is
   begin
      for Time in 1 .. 2 loop
         declare
            Work : SQL.Transaction (T.DB'Access);
         begin
            Assert (Work.Is_Pending and then not T.DB.In_Autocommit, "open");
            Insert (T, Time'Image);
            Work.Commit;
            Assert (not Work.Is_Pending and then T.DB.In_Autocommit, "over");
         end;
      end loop;
      Has_Rows (T, "2");
   end Committed;

   procedure Left_By_Exception (T : in out Fixture) is
      procedure Fail_Half_Way is
         Work : SQL.Transaction (T.DB'Access);
      begin
         Insert (T, "1");
         Insert (T, "1");
         Work.Commit;
      end Fail_Half_Way;
   begin
      Is_Refused (Fail_Half_Way'Access, "23505");
      Has_Rows (T, "0");
   end Left_By_Exception;

   procedure Left_Without_Commit (T : in out Fixture) is
      procedure Forget is
         Work : SQL.Transaction (T.DB'Access) with Unreferenced;
      begin
         Insert (T, "1");
      end Forget;
   begin
      Forget;
      Has_Rows (T, "0");
   end Left_Without_Commit;

   --  Rows that are still being read must not keep the work from being undone

   procedure Left_While_Reading (T : in out Fixture) is
      Query : SQLite.Statement;

      procedure Fail is
         Work : SQL.Transaction (T.DB'Access) with Unreferenced;
      begin
         Insert (T, "2");
         Query.Prepare (T.DB, "SELECT x FROM t");
         Assert (Query.Step, "a row");
         raise SQL.SQL_Error with "on the way";
      end Fail;
   begin
      Insert (T, "1");
      Is_Refused (Fail'Access, "HY000", "on the way");
      Has_Rows (T, "1");
   end Left_While_Reading;

   procedure Rolled_Back (T : in out Fixture) is
      Work : SQL.Transaction (T.DB'Access);

      procedure Commit is
      begin
         Work.Commit;
      end Commit;
   begin
      Insert (T, "1");
      Work.Roll_Back;
      Has_Rows (T, "0");
      Is_Misuse (Commit'Access, "is over");
   end Rolled_Back;

   procedure Nested (T : in out Fixture) is
      Outer : SQL.Transaction (T.DB'Access);

      procedure Begin_Another is
         Inner : SQL.Transaction (T.DB'Access) with Unreferenced;
      begin
         Assert (False, "a second transaction began");
      end Begin_Another;
   begin
      Insert (T, "1");
      Is_Refused (Begin_Another'Access, "25001", "transaction is open");
      Outer.Commit;
      Has_Rows (T, "1");
   end Nested;

   --  SQLite can roll back by itself: a commit then must not pretend to have worked

   procedure Rolled_Back_By_Database (T : in out Fixture) is
      Work : SQL.Transaction (T.DB'Access);

      procedure Replace is
      begin
         T.DB.Execute ("INSERT OR ROLLBACK INTO t VALUES (1)");
      end Replace;

      procedure Commit is
      begin
         Work.Commit;
      end Commit;
   begin
      Insert (T, "1");
      Is_Refused (Replace'Access, "23505");
      Is_Refused (Commit'Access, "25P01", "no transaction");
      Work.Roll_Back;
      Has_Rows (T, "0");
   end Rolled_Back_By_Database;

   procedure Commit_Again_When_Busy (T : in out Fixture) is
      Path    : constant String := File_Name ("commit.db");
      Mine    : aliased SQLite.Connection;
      Other   : SQLite.Connection;
      Reading : SQLite.Statement;

      pragma Unreferenced (T);
   begin
      Mine.Open (Path);
      Mine.Execute ("CREATE TABLE t (x)");
      Mine.Execute ("INSERT INTO t VALUES (1), (2)");
      Other.Open (Path);
      Reading.Prepare (Other, "SELECT x FROM t");
      Assert (Reading.Step, "a row");
      declare
         Work : SQL.Transaction (Mine'Access);

         procedure Commit is
         begin
            Work.Commit;
         end Commit;
      begin
         Mine.Execute ("INSERT INTO t VALUES (3)");
         Is_Refused (Commit'Access, "55P03", "locked");
         Assert (Work.Is_Pending, "the work is still there");
         Reading.Reset;
         Work.Commit;
      end;
      Answers (Other, "SELECT count(*) FROM t", "3");
   end Commit_Again_When_Busy;

   procedure Connection_Closed_First (T : in out Fixture) is
      DB   : aliased SQLite.Connection;
      Path : constant String := File_Name ("closed.db");

      pragma Unreferenced (T);
   begin
      DB.Open (Path);
      DB.Execute ("CREATE TABLE t (x)");
      declare
         Work : SQL.Transaction (DB'Access);

         procedure Commit is
         begin
            Work.Commit;
         end Commit;
      begin
         DB.Execute ("INSERT INTO t VALUES (1)");
         DB.Close;
         Is_Misuse (Commit'Access, "connection is not open");
      end;
      DB.Open (Path);
      Answers (DB, "SELECT count(*) FROM t", "0");
   end Connection_Closed_First;

   package Caller is new AUnit.Test_Caller (Fixture);

   function Suite return AUnit.Test_Suites.Access_Test_Suite is
      Result : constant AUnit.Test_Suites.Access_Test_Suite := AUnit.Test_Suites.New_Suite;
   begin
      Result.Add_Test (Caller.Create ("committed work stays", Committed'Access));
      Result.Add_Test (Caller.Create ("left by an exception", Left_By_Exception'Access));
      Result.Add_Test (Caller.Create ("left without a commit", Left_Without_Commit'Access));
      Result.Add_Test (Caller.Create ("left while rows are read", Left_While_Reading'Access));
      Result.Add_Test (Caller.Create ("rolled back", Rolled_Back'Access));
      Result.Add_Test (Caller.Create ("one at a time", Nested'Access));
      Result.Add_Test
        (Caller.Create ("rolled back by the database", Rolled_Back_By_Database'Access));
      Result.Add_Test
        (Caller.Create ("a busy commit can be tried again", Commit_Again_When_Busy'Access));
      Result.Add_Test
        (Caller.Create ("its connection closed first", Connection_Closed_First'Access));
      return Result;
   end Suite;

end Transaction_Tests;
