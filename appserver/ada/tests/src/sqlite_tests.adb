--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

with Ada.Exceptions;
with Ada.Text_IO;
with Appserver.SQL.Pools;
with AUnit.Assertions;
with AUnit.Test_Caller;
with AUnit.Test_Fixtures;
with Checks;

package body SQLite_Tests is

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
      T.DB.Execute
        ("CREATE TABLE account (id integer primary key, name text unique not null,"
         & " balance integer check (balance >= 0), parent integer references account (id))");
      T.DB.Execute ("INSERT INTO account VALUES (1, 'Ada', 10, NULL)");
   end Set_Up;

   overriding procedure Tear_Down (T : in out Fixture) is
   begin
      T.DB.Close;
   end Tear_Down;

   procedure Refuses
     (T : in out Fixture; Text : String; State : SQL.SQL_State; Words : String := "")
   is
      procedure Execute is
      begin
         T.DB.Execute (Text);
      end Execute;
   begin
      Is_Refused (Execute'Access, State, Words);
   end Refuses;

   procedure Constraints (T : in out Fixture) is
   begin
      T.DB.Execute ("PRAGMA foreign_keys = on");
      Refuses (T, "INSERT INTO account VALUES (2, 'Ada', 0, NULL)", "23505", "account.name");
      Refuses (T, "INSERT INTO account VALUES (1, 'Eve', 0, NULL)", "23505", "account.id");
      Refuses (T, "INSERT INTO account VALUES (2, NULL, 0, NULL)", "23502", "account.name");
      Refuses (T, "INSERT INTO account VALUES (2, 'Eve', -1, NULL)", "23514", "balance");
      Refuses (T, "INSERT INTO account VALUES (2, 'Eve', 0, 99)", "23503", "FOREIGN KEY");
      Refuses (T, "INSERT INTO account VALUES ('x', 'Eve', 0, NULL)", "42804", "mismatch");
      Answers (T.DB, "SELECT count(*) FROM account", "1");
   end Constraints;

   procedure Texts (T : in out Fixture) is
   begin
      Refuses (T, "SELEKT 1", "42601", "near ""SELEKT""");
      Refuses (T, "SELECT (1", "42601", "incomplete input");
      Refuses (T, "SELECT * FROM nowhere", "42P01", "nowhere");
      Refuses (T, "SELECT nobody FROM account", "42703", "nobody");
      Refuses (T, "SELECT nofunction()", "42883", "nofunction");
      Refuses (T, "CREATE TABLE account (id integer)", "42P07", "account");
      Refuses (T, "SELECT abs(-9223372036854775807 - 1)", "22003", "overflow");
      Refuses (T, "COMMIT", "25P01", "no transaction");
   end Texts;

   --  Text after the first statement must not be silently ignored

   procedure One_Statement (T : in out Fixture) is
      Long : constant String (1 .. 10_000) := [others => ' '];
   begin
      Refuses (T, "", "42601", "no statement");
      Refuses (T, "  -- nothing", "42601", "no statement");
      Refuses (T, "SELECT 1; SELECT 2", "42601", "more than one");
      Refuses (T, "SELECT 1; garbage", "42601", "more than one");
      Refuses (T, "SELECT 1;" & Long & "SELECT 2", "42601", "more than one");
      Refuses (T, "SELECT 1" & ASCII.NUL & "; SELECT 2", "42601", "more than one");
      T.DB.Execute ("SELECT 1;");
      T.DB.Execute ("SELECT 1 ; -- and no more" & ASCII.LF & " ");
      T.DB.Execute ("SELECT 1" & Long & "/* and no more */");
   end One_Statement;

   --  Programs rely on the state, and logs on the code and the message

   procedure Parts_Of_An_Error (T : in out Fixture) is
   begin
      T.DB.Execute ("INSERT INTO account VALUES (2, 'Ada', 0, NULL)");
      Assert (False, "a duplicate name was inserted");
   exception
      when Error : SQL.SQL_Error =>
         Assert
           (Ada.Exceptions.Exception_Message (Error),
            "SQLSTATE 23505, SQLite 2067: UNIQUE constraint failed: account.name", "exception");
         Assert (SQL.State_Of (Error), "23505", "state");
         Assert (SQL.Code_Of (Error) = 2067, "code" & SQL.Code_Of (Error)'Image);
         Assert
           (SQL.Message_Of (Error), "UNIQUE constraint failed: account.name", "message");
   end Parts_Of_An_Error;

   --  GNAT truncates long messages, but the state must be preserved

   procedure Long_Messages (T : in out Fixture) is
      Name : constant String (1 .. 1_000) := [others => 'x'];
   begin
      Refuses (T, "SELECT * FROM " & Name, "42P01", "xxxx");
   end Long_Messages;

   procedure Foreign_Exceptions (T : in out Fixture) is
      pragma Unreferenced (T);
   begin
      raise SQL.SQL_Error with "raised elsewhere";
   exception
      when Error : SQL.SQL_Error =>
         Assert (SQL.State_Of (Error), "HY000", "state");
         Assert (SQL.Code_Of (Error) = 0, "code");
         Assert (SQL.Message_Of (Error), "raised elsewhere", "message");
   end Foreign_Exceptions;

   procedure Opening (T : in out Fixture) is
      DB   : SQLite.Connection;
      Path : constant String := File_Name ("opening.db");
      File : Ada.Text_IO.File_Type;

      procedure Open_Nowhere is
      begin
         DB.Open (File_Name ("no such directory/x.db"));
      end Open_Nowhere;

      procedure Open_Missing is
      begin
         DB.Open (Path, SQLite.Read_Write);
      end Open_Missing;

      procedure Read is
      begin
         DB.Execute ("SELECT * FROM sqlite_master");
      end Read;

      procedure Write is
      begin
         DB.Execute ("PRAGMA user_version = 1");
      end Write;

      pragma Unreferenced (T);
   begin
      Is_Refused (Open_Nowhere'Access, "08001", "unable to open");
      Is_Refused (Open_Missing'Access, "08001", "unable to open");
      Assert (not DB.Is_Open, "a connection that failed to open is closed");

      Ada.Text_IO.Create (File, Ada.Text_IO.Out_File, Path);
      Ada.Text_IO.Put_Line (File, "This is a text, and no database: SQLite sees it at once.");
      Ada.Text_IO.Close (File);
      DB.Open (Path);
      Is_Refused (Read'Access, "XX001", "not a database");
      DB.Close;

      DB.Open (File_Name ("opening.db"));
      Write;
      DB.Close;
      DB.Open (Path, SQLite.Read_Only);
      Read;
      Is_Refused (Write'Access, "25006", "readonly");
   end Opening;

   procedure Full (T : in out Fixture) is
   begin
      T.DB.Execute ("PRAGMA max_page_count = 10");
      Refuses
        (T, "INSERT INTO account VALUES (2, hex(zeroblob(100000)), 0, NULL)", "53100", "full");
   end Full;

   procedure Busy (T : in out Fixture) is
      Path : constant String := File_Name ("busy.db");
      Other, Tested : SQLite.Connection;

      procedure Insert is
      begin
         Tested.Execute ("INSERT INTO t VALUES (1)");
      end Insert;

      pragma Unreferenced (T);
   begin
      Other.Open (Path);
      Other.Execute ("CREATE TABLE t (x)");
      Tested.Open (Path);
      Other.Execute ("BEGIN IMMEDIATE");
      Is_Refused (Insert'Access, "55P03", "locked");
      Tested.Set_Busy_Timeout (0.02);
      Is_Refused (Insert'Access, "55P03", "locked");
      Other.Execute ("COMMIT");
      Insert;
      Answers (Other, "SELECT count(*) FROM t", "1");
   end Busy;

   --  With a busy timeout, a statement waits for the lock instead of failing

   procedure Waiting (T : in out Fixture) is
      Path   : constant String := File_Name ("waiting.db");
      Tested : SQLite.Connection;

      task Other is
         entry Lock;
         entry Release;
      end Other;

      task body Other is
         DB : SQLite.Connection;
      begin
         DB.Open (Path);
         accept Lock do
            DB.Execute ("BEGIN EXCLUSIVE");
         end Lock;
         accept Release;
         delay 0.05;
         DB.Execute ("COMMIT");
      end Other;

      pragma Unreferenced (T);
   begin
      Tested.Open (Path);
      Tested.Set_Busy_Timeout (60.0);
      Other.Lock;
      Other.Release;
      Tested.Execute ("CREATE TABLE t (x)");
      Answers (Tested, "SELECT count(*) FROM t", "0");
   end Waiting;

   --  Waiting does not help if a snapshot is stale: this has its own state

   procedure Stale_Snapshot (T : in out Fixture) is
      Path : constant String := File_Name ("snapshot.db");
      Other, Tested : SQLite.Connection;

      procedure Insert is
      begin
         Tested.Execute ("INSERT INTO t VALUES (2)");
      end Insert;

      pragma Unreferenced (T);
   begin
      Other.Open (Path);
      Other.Execute ("PRAGMA journal_mode = wal");
      Other.Execute ("CREATE TABLE t (x)");
      Tested.Open (Path);
      Tested.Execute ("BEGIN");
      Answers (Tested, "SELECT count(*) FROM t", "0");
      Other.Execute ("INSERT INTO t VALUES (1)");
      Is_Refused (Insert'Access, "40001", "locked");
   end Stale_Snapshot;

   procedure Cancelling (T : in out Fixture) is

      task Other is
         entry Stop;
      end Other;

      task body Other is
         Stopped : Boolean := False;
      begin
         while not Stopped loop
            T.DB.Cancel;
            select
               accept Stop;
               Stopped := True;
            or
               delay 0.005;
            end select;
         end loop;
      end Other;

      procedure Count_For_Ever is
      begin
         T.DB.Execute
           ("WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"
            & " SELECT count(*) FROM n");
      end Count_For_Ever;

   begin
      Is_Refused (Count_For_Ever'Access, "57014", "interrupted");
      Other.Stop;
      Answers (T.DB, "SELECT count(*) FROM account", "1");
   exception
      when others =>
         Other.Stop;
         raise;
   end Cancelling;

   --  After an error a prepared statement holds no locks and can be run again

   procedure Trying_Again (T : in out Fixture) is
      Insert : SQLite.Statement;

      procedure Run is
      begin
         Insert.Execute;
      end Run;
   begin
      Insert.Prepare (T.DB, "INSERT INTO account VALUES (?, ?, 0, NULL)");
      Insert.Bind (1, 2);
      Insert.Bind (2, "Ada");
      Is_Refused (Run'Access, "23505");
      Insert.Bind (2, "Eve");
      Insert.Execute;
      Answers (T.DB, "SELECT name FROM account WHERE id = 2", "Eve");
   end Trying_Again;

   --  SQLite prepares a statement again if the schema has changed: the new columns can be read

   procedure New_Columns (T : in out Fixture) is
      Query : SQLite.Statement;
   begin
      Query.Prepare (T.DB, "SELECT * FROM account");
      Assert (Query.Step and then Query.Column_Count = 4, "four columns");
      Query.Reset;
      T.DB.Execute ("ALTER TABLE account ADD COLUMN color DEFAULT 'red'");
      Assert (Query.Step and then Query.Column_Count = 5, "five columns");
      Assert (Query.As_Text (5), "red", "the new column");
   end New_Columns;

   --  SQLite may have rolled back by itself: a commit must then not appear successful

   procedure Rolled_Back_By_Database (T : in out Fixture) is
      Work : SQL.Transaction (T.DB'Access);

      procedure Replace is
      begin
         T.DB.Execute ("INSERT OR ROLLBACK INTO account VALUES (1, 'Eve', 0, NULL)");
      end Replace;

      procedure Commit is
      begin
         Work.Commit;
      end Commit;
   begin
      T.DB.Execute ("INSERT INTO account VALUES (2, 'Eve', 0, NULL)");
      Is_Refused (Replace'Access, "23505");
      Is_Refused (Commit'Access, "25P01", "no transaction");
      Work.Roll_Back;
      Answers (T.DB, "SELECT count(*) FROM account", "1");
   end Rolled_Back_By_Database;

   procedure Commit_Again_When_Busy (T : in out Fixture) is
      Path    : constant String := File_Name ("commit.db");
      Tested  : aliased SQLite.Connection;
      Other   : SQLite.Connection;
      Reading : SQLite.Statement;

      pragma Unreferenced (T);
   begin
      Tested.Open (Path);
      Tested.Execute ("CREATE TABLE t (x)");
      Tested.Execute ("INSERT INTO t VALUES (1), (2)");
      Other.Open (Path);
      Reading.Prepare (Other, "SELECT x FROM t");
      Assert (Reading.Step, "a row");
      declare
         Work : SQL.Transaction (Tested'Access);

         procedure Commit is
         begin
            Work.Commit;
         end Commit;
      begin
         Tested.Execute ("INSERT INTO t VALUES (3)");
         Is_Refused (Commit'Access, "55P03", "locked");
         Assert (Work.Is_Pending, "the transaction is still pending");
         Reading.Reset;
         Work.Commit;
      end;
      Answers (Other, "SELECT count(*) FROM t", "3");
   end Commit_Again_When_Busy;

   ---------------
   -- RETURNING --
   ---------------

   --  SQLite checks foreign keys after the last row: the error must come before the first one

   procedure Returning_Violation (T : in out Fixture) is
      Insert : SQLite.Statement;

      procedure Step is
      begin
         Assert (Insert.Step, "a row");
      end Step;

      procedure Is_Undone (Text : String) is
      begin
         Insert.Prepare (T.DB, Text);
         Insert.Bind (1, 99);
         Is_Refused (Step'Access, "23503", "FOREIGN KEY");
         Assert (not Insert.Has_Row, "no row");
         Answers (T.DB, "SELECT count(*) FROM child", "0");
      end Is_Undone;
   begin
      T.DB.Execute ("PRAGMA foreign_keys = on");
      T.DB.Execute
        ("CREATE TABLE child (id integer primary key, now integer references account (id),"
         & " later integer references account (id) deferrable initially deferred)");
      Is_Undone ("INSERT INTO child (later) VALUES (?) RETURNING id");
      declare
         Work : SQL.Transaction (T.DB'Access);
      begin
         Is_Undone ("INSERT INTO child (now) VALUES (?) RETURNING id");
         Work.Commit;
      end;
      Insert.Bind (1, 1);
      Step;
      Insert.Reset;
      Answers (T.DB, "SELECT count(*) FROM child", "1");
   end Returning_Violation;

   --  A row is returned only if the change is committed

   procedure Returning_When_Busy (T : in out Fixture) is
      Path          : constant String := File_Name ("returning.db");
      Tested, Other : SQLite.Connection;
      Reading       : SQLite.Statement;
      Insert        : SQLite.Statement;

      procedure Step is
      begin
         Assert (Insert.Step, "a row");
      end Step;

      pragma Unreferenced (T);
   begin
      Tested.Open (Path);
      Tested.Execute ("CREATE TABLE t (x)");
      Tested.Execute ("INSERT INTO t VALUES (1), (2)");
      Other.Open (Path);
      Reading.Prepare (Other, "SELECT x FROM t");
      Assert (Reading.Step, "a row");
      Insert.Prepare (Tested, "INSERT INTO t VALUES (3) RETURNING x");
      Is_Refused (Step'Access, "55P03", "locked");
      Reading.Reset;
      Answers (Other, "SELECT count(*) FROM t", "2");
      Step;
      Answers (Other, "SELECT count(*) FROM t", "3");
   end Returning_When_Busy;

   --  The values of all types, while another statement runs

   procedure Returned_Values (T : in out Fixture) is
      use type SQL.Integer_64;
      use type SQL.Blob;

      Change : SQLite.Statement;

      procedure Has_Values (Id : SQL.Integer_64; Name : String) is
      begin
         Assert (Change.Step and then Change.Column_Count = 7, "a row");
         Assert (Change.As_Integer_64 (1) = Id, "an integer");
         Assert (Change.As_Float (1) = Long_Float (Id), "an integer as a float");
         Assert (Change.As_Text (2), Name, "name");
         Assert (Change.Column_Name (2), "name", "the column's name");
         Assert (Change.As_Float (3) = 2.5, "a float");
         Assert (Change.As_Scaled (3, Scale => 2) = 250, "a scaled float");
         Assert (Change.As_Text (4), "10", "a number as a text");
         Assert (Change.As_Integer_64 (4) = 10, "a number");
         Assert (Change.Is_Null (5), "null");
         Assert (Change.As_Blob (6) = SQL.Blob'(0, 255) and then not Change.Is_Null (6), "a blob");
         Assert (Change.As_Blob (7)'Length = 0, "an empty blob");
         Answers (T.DB, "SELECT count(*) FROM account", "3");
      end Has_Values;
   begin
      Change.Prepare
        (T.DB,
         "INSERT INTO account VALUES (?, 'Eve', 10, NULL), (3, 'Zoë', 10, NULL)"
         & " RETURNING id, name, balance / 4.0, balance, parent, x'00ff', x''");
      Change.Bind (1, 2);
      Has_Values (2, "Eve");
      Assert (T.DB.Rows_Affected = 2, "both rows are inserted");
      Has_Values (3, "Zoë");
      Assert (not Change.Step and then not Change.Has_Row, "no third row");
   end Returned_Values;

   procedure Returning_Again (T : in out Fixture) is
      use type SQL.Integer_64;

      Change : SQLite.Statement;

      procedure Has_Balance (Name : String; Balance : SQL.Integer_64) is
      begin
         Change.Bind (1, Name);
         Assert (Change.Step and then Change.As_Integer_64 (1) = Balance, "balance");
      end Has_Balance;
   begin
      Change.Prepare
        (T.DB, "UPDATE account SET balance = balance + 1 WHERE name = ? RETURNING balance");
      Has_Balance ("Ada", 11);
      Change.Reset;
      Has_Balance ("Ada", 12);
      Change.Execute;
      Assert (not Change.Has_Row, "the row is discarded");
      Has_Balance ("Ada", 13);
      Assert (not Change.Step, "one row");
      Change.Execute;
      Has_Balance ("Ada", 15);
      Change.Unbind;
      Assert (not Change.Step, "no row for null");
      Assert (T.DB.Rows_Affected = 0, "nothing is changed");
      Answers (T.DB, "PRAGMA journal_mode", "memory");
   end Returning_Again;

   --  The lock is denied at the beginning of the transaction, not in the middle of it

   procedure Immediate_Lock (T : in out Fixture) is
      pragma Unreferenced (T);

      Path          : constant String := File_Name ("at_once.db");
      First, Second : aliased SQLite.Connection;

      procedure Begin_Another is
         Work : SQL.Immediate_Transaction (Second'Access) with Unreferenced;
      begin
         Assert (False, "a second transaction began");
      end Begin_Another;
   begin
      First.Open (Path);
      Second.Open (Path);
      First.Execute ("CREATE TABLE t (x integer)");
      declare
         Work : SQL.Immediate_Transaction (First'Access);
      begin
         Is_Refused (Begin_Another'Access, "55P03");
         First.Execute ("INSERT INTO t VALUES (1)");
         Work.Commit;
      end;
      declare
         Work : SQL.Immediate_Transaction (Second'Access);
      begin
         Second.Execute ("INSERT INTO t VALUES (2)");
         Work.Commit;
      end;
      Answers (First, "SELECT count(*) FROM t", "2");
   end Immediate_Lock;

   --  The program's settings are preserved

   procedure Only_Queries (T : in out Fixture) is
   begin
      T.DB.Execute ("PRAGMA query_only = 1");
      declare
         Work : SQL.Isolated_Transaction (T.DB'Access, SQL.Serializable, SQL.Read_Only);
      begin
         Work.Commit;
      end;
      Answers (T.DB, "PRAGMA query_only", "1");
      T.DB.Execute ("PRAGMA query_only = 0");
      declare
         Work : SQL.Isolated_Transaction (T.DB'Access, SQL.Serializable, SQL.Read_Only)
           with Unreferenced;
      begin
         Answers (T.DB, "PRAGMA query_only", "1");
      end;
      Answers (T.DB, "PRAGMA query_only", "0");
   end Only_Queries;

   --  Opening waits for a lock: the pool's timeout applies

   type Text_Access is access String;
   Pool_Path : Text_Access;

   procedure Open_When_Free (DB : in out SQLite.Connection) is
   begin
      DB.Open (Pool_Path.all);
      DB.Set_Busy_Timeout (120.0);
      DB.Execute ("CREATE TABLE IF NOT EXISTS t (x)");
      DB.Execute ("INSERT INTO t VALUES (1)");
   end Open_When_Free;

   package Pools is new Appserver.SQL.Pools
     (SQLite.Connection, SQLite.Statement, Open_When_Free, SQLite.Prepare);

   procedure Pool_Opening_Waits (T : in out Fixture) is
      pragma Unreferenced (T);
      Locking : SQLite.Connection;
      Pool    : aliased Pools.Pool (1);
      Held    : Pools.Lease (Pool'Access);
   begin
      Pool_Path := new String'(File_Name ("pool.db"));
      Locking.Open (Pool_Path.all);
      Locking.Execute ("BEGIN EXCLUSIVE");
      begin
         Held.Get (Timeout => 0.1);
         Assert (False, "the database was opened despite the lock");
      exception
         when Pools.Pool_Timeout => null;
      end;
      Locking.Execute ("ROLLBACK");
      Held.Get (Timeout => 120.0);
      Assert
        (Pool.Statistics.Open = 1 and then Natural (Pool.Statistics.Timeouts) = 1,
         "the database is opened after the lock is released");
      Held.DB.Execute ("DROP TABLE t");
   end Pool_Opening_Waits;

   procedure Time_Limit (T : in out Fixture) is

      procedure Run_Forever is
      begin
         T.DB.Execute
           ("WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"
            & " SELECT count(*) FROM n");
      end Run_Forever;
   begin
      T.DB.Set_Statement_Limit (1.0);
      Is_Refused (Run_Forever'Access, "57014");
      Answers (T.DB, "SELECT 1", "1");
      T.DB.Set_Statement_Limit (0.0);
      Answers
        (T.DB,
         "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300000)"
         & " SELECT count(*) FROM n", "300000");
   end Time_Limit;

   package Caller is new AUnit.Test_Caller (Fixture);

   function Suite return AUnit.Test_Suites.Access_Test_Suite is
      Result : constant AUnit.Test_Suites.Access_Test_Suite := AUnit.Test_Suites.New_Suite;
   begin
      Result.Add_Test (Caller.Create ("constraints have SQLSTATEs", Constraints'Access));
      Result.Add_Test (Caller.Create ("wrong SQL has SQLSTATEs", Texts'Access));
      Result.Add_Test (Caller.Create ("a text is one statement", One_Statement'Access));
      Result.Add_Test (Caller.Create ("state, code and message", Parts_Of_An_Error'Access));
      Result.Add_Test (Caller.Create ("long messages keep the state", Long_Messages'Access));
      Result.Add_Test
        (Caller.Create ("an SQL_Error that the program raises", Foreign_Exceptions'Access));
      Result.Add_Test (Caller.Create ("files that cannot be opened", Opening'Access));
      Result.Add_Test (Caller.Create ("a full disk", Full'Access));
      Result.Add_Test (Caller.Create ("a busy database", Busy'Access));
      Result.Add_Test (Caller.Create ("waiting for a lock", Waiting'Access));
      Result.Add_Test (Caller.Create ("an immediate lock", Immediate_Lock'Access));
      Result.Add_Test
        (Caller.Create ("a pool that opens a locked database", Pool_Opening_Waits'Access));
      Result.Add_Test (Caller.Create ("a read-only database", Only_Queries'Access));
      Result.Add_Test (Caller.Create ("a stale snapshot", Stale_Snapshot'Access));
      Result.Add_Test (Caller.Create ("canceling from another task", Cancelling'Access));
      Result.Add_Test (Caller.Create ("running again after an error", Trying_Again'Access));
      Result.Add_Test (Caller.Create ("a statement time limit", Time_Limit'Access));
      Result.Add_Test (Caller.Create ("columns that were added later", New_Columns'Access));
      Result.Add_Test
        (Caller.Create
           ("a transaction rolled back by the database", Rolled_Back_By_Database'Access));
      Result.Add_Test
        (Caller.Create ("a busy commit can be retried", Commit_Again_When_Busy'Access));
      Result.Add_Test
        (Caller.Create ("RETURNING: a foreign key", Returning_Violation'Access));
      Result.Add_Test
        (Caller.Create ("RETURNING: a busy database", Returning_When_Busy'Access));
      Result.Add_Test (Caller.Create ("RETURNING: values", Returned_Values'Access));
      Result.Add_Test (Caller.Create ("RETURNING: executions", Returning_Again'Access));
      return Result;
   end Suite;

end SQLite_Tests;
