--  SPDX-License-Identifier: Apache-2.0

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
      Is_Refused (Fail_Half_Way'Access, Known.Duplicate);
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

   package Caller is new AUnit.Test_Caller (Fixture);

   function Suite return AUnit.Test_Suites.Access_Test_Suite is
      Result : constant AUnit.Test_Suites.Access_Test_Suite := AUnit.Test_Suites.New_Suite;

      procedure Add (Name : String; Test : Caller.Test_Method) is
      begin
         Result.Add_Test (Caller.Create (Known.Name.all & ": " & Name, Test));
      end Add;
   begin
      Add ("committed work stays", Committed'Access);
      Add ("left by an exception", Left_By_Exception'Access);
      Add ("left without a commit", Left_Without_Commit'Access);
      Add ("left while rows are read", Left_While_Reading'Access);
      Add ("rolled back", Rolled_Back'Access);
      Add ("one at a time", Nested'Access);
      Add ("its connection closed first", Connection_Closed_First'Access);
      return Result;
   end Suite;

end Transaction_Tests;
