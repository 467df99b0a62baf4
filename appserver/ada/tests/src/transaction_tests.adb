--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

with AUnit.Assertions;
with AUnit.Test_Caller;
with AUnit.Test_Fixtures;
with Checks;

package body Transaction_Tests is

   use AUnit.Assertions;
   use Checks;
   use Database;

   type Fixture is new AUnit.Test_Fixtures.Test_Fixture with record
      DB : aliased Connection;
   end record;

   overriding procedure Set_Up (T : in out Fixture);
   overriding procedure Tear_Down (T : in out Fixture);

   overriding procedure Set_Up (T : in out Fixture) is
   begin
      Open (T.DB);
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
      Is_Refused (Fail_Half_Way'Access, Dialect.Duplicate);
      Has_Rows (T, "0");
   end Left_By_Exception;

   procedure Survives_Or_Not (T : in out Fixture) is

      procedure Insert_Three is
      begin
         Insert (T, "3");
      end Insert_Three;

      procedure Insert_Again is
      begin
         Insert (T, "1");
      end Insert_Again;

      Work : SQL.Transaction (T.DB'Access);
   begin
      Insert (T, "1");
      Insert (T, "2");
      Is_Refused (Insert_Again'Access, Dialect.Duplicate);
      if T.DB.Transactions_Survive_Errors then
         Insert_Three;
         Work.Commit;
         Has_Rows (T, "3");
      else
         Is_Refused (Insert_Three'Access, "25P02");
         Work.Roll_Back;
         Has_Rows (T, "0");
      end if;
   end Survives_Or_Not;

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

   --  Rows that are still being read must not prevent the rollback

   procedure Left_While_Reading (T : in out Fixture) is
      Query : Statement;

      procedure Fail is
         Work : SQL.Transaction (T.DB'Access) with Unreferenced;
      begin
         Insert (T, "2");
         Prepare (Query, T.DB, "SELECT x FROM t");
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
      Is_Misuse (Commit'Access, "has ended");
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
      Is_Refused (Begin_Another'Access, "25001", "transaction is already open");
      Outer.Commit;
      Has_Rows (T, "1");
   end Nested;

   --  SQLite may have rolled back by itself: a commit must then not appear successful

   procedure Connection_Closed_First (T : in out Fixture) is
      DB : aliased Connection;
   begin
      Connect (DB);
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
      Has_Rows (T, "0");
   end Connection_Closed_First;

   ----------------
   -- Savepoints --
   ----------------

   procedure Undone_Part (T : in out Fixture) is
      Work : SQL.Transaction (T.DB'Access);

      procedure Fail is
         Part : SQL.Savepoint (T.DB'Access);
      begin
         Assert (Part.Is_Pending, "pending");
         Insert (T, "2");
         Insert (T, "1");
         Part.Release;
      end Fail;

      procedure Forget is
         Part : SQL.Savepoint (T.DB'Access) with Unreferenced;
      begin
         Insert (T, "2");
      end Forget;
   begin
      Insert (T, "1");
      Is_Refused (Fail'Access, Dialect.Duplicate);
      Forget;
      Insert (T, "3");
      Work.Commit;
      Has_Rows (T, "2");
      Answers (T.DB, "SELECT sum(x) FROM t", "4");
   end Undone_Part;

   --  The end of a savepoint ends the savepoints nested in it

   procedure Nested_Parts (T : in out Fixture) is
      Work : SQL.Transaction (T.DB'Access);
   begin
      declare
         Outer : SQL.Savepoint (T.DB'Access);
         Inner : SQL.Savepoint (T.DB'Access);

         procedure Release is
         begin
            Inner.Release;
         end Release;
      begin
         Insert (T, "1");
         declare
            Innermost : SQL.Savepoint (T.DB'Access);
         begin
            Insert (T, "2");
            Innermost.Release;
            Assert
              (not Innermost.Is_Pending and then Inner.Is_Pending,
               "the innermost savepoint has ended, and the inner one has not");
         end;
         Outer.Release;
         Assert (not Inner.Is_Pending, "the inner savepoint ended with the outer one");
         Is_Misuse (Release'Access, "savepoint has ended");
      end;
      declare
         Outer : SQL.Savepoint (T.DB'Access);
         Inner : SQL.Savepoint (T.DB'Access);
      begin
         Insert (T, "4");
         Inner.Release;
         Outer.Roll_Back;
         Assert (not Outer.Is_Pending, "over");
         Insert (T, "8");
      end;
      Work.Commit;
      Answers (T.DB, "SELECT sum(x) FROM t", "11");
   end Nested_Parts;

   procedure Part_Of_Nothing (T : in out Fixture) is
      procedure Begin_Part is
         Part : SQL.Savepoint (T.DB'Access) with Unreferenced;
      begin
         Assert (False, "a savepoint began without a transaction");
      end Begin_Part;
   begin
      Is_Refused (Begin_Part'Access, "25P01", "no transaction");
      Has_Rows (T, "0");
   end Part_Of_Nothing;

   --  A savepoint whose transaction or connection ended first

   procedure Ended_Before (T : in out Fixture) is
   begin
      declare
         Work : SQL.Transaction (T.DB'Access);
         Part : SQL.Savepoint (T.DB'Access);
      begin
         Insert (T, "1");
         Work.Commit;
         Assert (not Part.Is_Pending, "over");
         declare
            Next : SQL.Transaction (T.DB'Access);
         begin
            Insert (T, "2");
            Next.Commit;
         end;
      end;
      declare
         DB : aliased Connection;
      begin
         Connect (DB);
         declare
            Work : SQL.Transaction (DB'Access) with Unreferenced;
            Part : SQL.Savepoint (DB'Access) with Unreferenced;
         begin
            DB.Close;
         end;
         Connect (DB);
         declare
            Work : SQL.Transaction (DB'Access);
            Part : SQL.Savepoint (DB'Access);
         begin
            DB.Execute ("INSERT INTO t VALUES (3)");
            Part.Release;
            Work.Commit;
         end;
      end;
      Has_Rows (T, "3");
   end Ended_Before;

   ---------------------------------------
   -- Isolation levels and access modes --
   ---------------------------------------

   procedure Every_Kind (T : in out Fixture) is
      Rows : Natural := 0;

      procedure Commit (Work : in out SQL.Transaction'Class) is
      begin
         Assert (Work.Is_Pending and then not T.DB.In_Autocommit, "open");
         Rows := Rows + 1;
         Insert (T, Rows'Image);
         Work.Commit;
         Assert (not Work.Is_Pending and then T.DB.In_Autocommit, "over");
      end Commit;
   begin
      for Level in SQL.Isolation_Level loop
         declare
            Work : SQL.Isolated_Transaction (T.DB'Access, Level, SQL.Read_Write);
         begin
            Commit (Work);
         end;
         declare
            Work : SQL.Isolated_Transaction (T.DB'Access, Level, SQL.Read_Write)
              with Unreferenced;
         begin
            Insert (T, "1000");
         end;
      end loop;
      declare
         Work : SQL.Immediate_Transaction (T.DB'Access);
      begin
         Commit (Work);
      end;
      declare
         Work : SQL.Immediate_Transaction (T.DB'Access) with Unreferenced;
      begin
         Insert (T, "1000");
      end;
      Has_Rows (T, Rows'Image (2 .. 2));
   end Every_Kind;

   procedure Only_Read (T : in out Fixture) is

      procedure Write is
         Work : SQL.Isolated_Transaction (T.DB'Access, SQL.Serializable, SQL.Read_Only);
      begin
         Answers (T.DB, "SELECT count(*) FROM t", "1");
         Insert (T, "2");
         Work.Commit;
      end Write;

      procedure Read (Commits : Boolean) is
         Work : SQL.Isolated_Transaction (T.DB'Access, SQL.Default_Isolation, SQL.Read_Only);
      begin
         Answers (T.DB, "SELECT count(*) FROM t", "1");
         if Commits then
            Work.Commit;
         else
            Work.Roll_Back;
         end if;
      end Read;
   begin
      Insert (T, "1");
      Is_Refused (Write'Access, "25006");
      Read (Commits => True);
      Read (Commits => False);
      Insert (T, "2");
      Has_Rows (T, "2");
   end Only_Read;

   --  Changes that another transaction commits in the meantime are visible or not, depending on the
   --  level

   procedure Isolated (T : in out Fixture) is
      Other : Connection;

      procedure Sees (Level : SQL.Isolation_Level; Before, After : String) is
         Work : SQL.Isolated_Transaction (T.DB'Access, Level, SQL.Read_Write);
      begin
         Answers (T.DB, "SELECT count(*) FROM t", Before);
         Other.Execute ("INSERT INTO t VALUES (NULL)");
         Answers (T.DB, "SELECT count(*) FROM t", After);
         Work.Commit;
      end Sees;
   begin
      Connect (Other);
      Sees (SQL.Read_Committed, "0", "1");
      Sees (SQL.Repeatable_Read, "1", "1");
      Sees (SQL.Read_Committed, "2", "3");
   end Isolated;

   package Caller is new AUnit.Test_Caller (Fixture);

   function Suite return AUnit.Test_Suites.Access_Test_Suite is
      Result : constant AUnit.Test_Suites.Access_Test_Suite := AUnit.Test_Suites.New_Suite;

      procedure Add (Name : String; Test : Caller.Test_Method) is
      begin
         Result.Add_Test (Caller.Create (Dialect.Name.all & ": " & Name, Test));
      end Add;
   begin
      Add ("committed work is kept", Committed'Access);
      Add ("a transaction that an exception ends", Left_By_Exception'Access);
      Add ("a transaction after an error", Survives_Or_Not'Access);
      Add ("a transaction without a commit", Left_Without_Commit'Access);
      Add ("a transaction that ends while rows are read", Left_While_Reading'Access);
      Add ("a rollback", Rolled_Back'Access);
      Add ("one transaction at a time", Nested'Access);
      Add ("a connection that is closed first", Connection_Closed_First'Access);
      Add ("a savepoint that is rolled back", Undone_Part'Access);
      Add ("nested savepoints", Nested_Parts'Access);
      Add ("a savepoint without a transaction", Part_Of_Nothing'Access);
      Add ("savepoints that end before their scope", Ended_Before'Access);
      Add ("all kinds of transactions", Every_Kind'Access);
      Add ("read-only transactions", Only_Read'Access);
      return Result;
   end Suite;

   function Server_Suite return AUnit.Test_Suites.Access_Test_Suite is
      Result : constant AUnit.Test_Suites.Access_Test_Suite := AUnit.Test_Suites.New_Suite;
   begin
      Result.Add_Test
        (Caller.Create (Dialect.Name.all & ": isolation levels", Isolated'Access));
      return Result;
   end Server_Suite;

end Transaction_Tests;
