--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

with Appserver.Retry.Fault_Injection;
with Appserver.Retry.Transactions;
with Appserver.SQL.MariaDB;
with Appserver.SQL.PostgreSQL;
with AUnit.Assertions;
with AUnit.Test_Caller;
with AUnit.Test_Fixtures;
with Checks;
with Tested_Databases;

package body Retried_Isolation_Tests is

   use Appserver.SQL;
   use AUnit.Assertions;
   use Checks;

   package Retry renames Appserver.Retry;

   type Fixture is new AUnit.Test_Fixtures.Test_Fixture with record
      Runs : Natural := 0;
   end record;

   overriding procedure Set_Up (T : in out Fixture);

   overriding procedure Set_Up (T : in out Fixture) is
   begin
      T.Runs := 0;
   end Set_Up;

   procedure Failed_Once (Counted : Retry.Metrics; By : Retry.Fault) is
   begin
      Assert (Counted.Statistics.Faults (By)'Image, " 1", By'Image);
      Assert (Counted.Statistics.Retries'Image, " 1", "retries");
   end Failed_Once;

   procedure Make_Table (DB : in out SQL.Connection'Class) is
   begin
      DB.Execute ("CREATE TABLE t (id integer primary key, x integer)");
      DB.Execute ("INSERT INTO t VALUES (1, 100), (2, 100)");
   end Make_Table;

   procedure Make_Key_Table (DB : in out SQL.Connection'Class) is
   begin
      DB.Execute ("DROP TABLE IF EXISTS retry_key");
      DB.Execute ("CREATE TABLE retry_key (id varchar(255) primary key, result text)");
   end Make_Key_Table;

   --  The key is committed after the transaction took its snapshot, which does not show the key

   generic
      type Connection is limited new SQL.Connection with private;
      with procedure Connect (DB : in out Connection);
   procedure Run_With_Newer_Key (T : in out Fixture; Other : in out SQL.Connection'Class);

   procedure Run_With_Newer_Key (T : in out Fixture; Other : in out SQL.Connection'Class) is
      Counted : aliased Retry.Metrics;
      By      : constant Retry.Policy := (null, Counted'Access, others => <>);

      package Plain is new Retry.Transactions (Connection, Connect);

      Tested_DB : aliased Connection;

      function Add (DB : in out Connection) return String is
      begin
         DB.Execute ("UPDATE t SET x = x + 1 WHERE id = 1");
         return "added";
      end Add;

      procedure Outer_Work (DB : in out Connection) is
      begin
         T.Runs := T.Runs + 1;
         Answers (DB, "SELECT x FROM t WHERE id = 2", "100");
         if T.Runs = 1 then
            Other.Execute ("INSERT INTO retry_key VALUES ('order 1', 'the first')");
         end if;
         Assert
           (Plain.Run_Once (By, Tested_DB, "order 1", Add'Access), "the first", "its result");
      end Outer_Work;
   begin
      Make_Table (Other);
      Make_Key_Table (Other);
      Plain.Run (By, Tested_DB, Outer_Work'Access);
      Answers (Other, "SELECT x FROM t WHERE id = 1", "100");
      Failed_Once (Counted, Retry.Serialization_Failure);
   end Run_With_Newer_Key;

   ------------
   -- SQLite --
   ------------

   --  A reader prevents the writer from committing until the writer's second attempt

   procedure Busy_Commit (T : in out Fixture) is
      pragma Unreferenced (T);

      Path : constant String := File_Name ("busy.db");

      Counted : aliased Retry.Metrics;
      By      : constant Retry.Policy := (null, Counted'Access, others => <>);

      DB      : aliased SQLite.Connection;
      Reader  : SQLite.Connection;
      Reading : SQLite.Statement;

      procedure Connect (DB : in out SQLite.Connection) is
      begin
         DB.Open (Path);
      end Connect;

      procedure Read is
      begin
         Reading.Prepare (Reader, "SELECT x FROM t");
         Assert (Reading.Step, "a row");
      end Read;

      package Stopped is new Retry.Fault_Injection
        (SQLite.Connection, Connect, Before_First_Commit => Read);

      procedure Add (DB : in out SQLite.Connection) is
      begin
         if Reading.Is_Open then
            Reading.Reset;
         end if;
         DB.Execute ("UPDATE t SET x = x + 1 WHERE id = 1");
      end Add;
   begin
      Connect (Reader);
      Make_Table (Reader);
      Stopped.Transactions.Run (By, DB, Add'Access);
      Answers (Reader, "SELECT x FROM t WHERE id = 1", "101");
      Failed_Once (Counted, Retry.Busy);
   end Busy_Commit;

   procedure Old_Snapshot_Of_SQLite (T : in out Fixture) is
      Path : constant String := File_Name ("old-snapshot.db");

      Counted : aliased Retry.Metrics;
      By      : constant Retry.Policy := (null, Counted'Access, others => <>);

      procedure Connect (DB : in out SQLite.Connection) is
      begin
         DB.Open (Path);
      end Connect;

      package Plain is new Retry.Transactions (SQLite.Connection, Connect);

      DB    : aliased SQLite.Connection;
      Other : SQLite.Connection;

      procedure Add (DB : in out SQLite.Connection) is
         Query : SQLite.Statement;
      begin
         T.Runs := T.Runs + 1;
         Query.Prepare (DB, "SELECT x FROM t WHERE id = 1");
         Assert (Query.Step, "a row");
         if T.Runs = 1 then
            Other.Execute ("UPDATE t SET x = 200 WHERE id = 1");
         end if;
         DB.Execute ("UPDATE t SET x = 1 +" & Query.As_Integer_64 (1)'Image & " WHERE id = 1");
      end Add;
   begin
      Connect (Other);
      Other.Execute ("PRAGMA journal_mode = wal");
      Make_Table (Other);
      Plain.Run (By, DB, Add'Access);
      Answers (Other, "SELECT x FROM t WHERE id = 1", "201");
      Failed_Once (Counted, Retry.Busy);
   end Old_Snapshot_Of_SQLite;

   --  A transaction that had already read would fail, regardless of its timeout. The pause lets the
   --  call reach its key; without the pause, the test proves less.

   procedure Key_Waits_For_Writer (T : in out Fixture) is
      pragma Unreferenced (T);

      Path : constant String := File_Name ("key-waits.db");
      By   : constant Retry.Policy := (Attempts => 1, others => <>);

      procedure Connect (DB : in out SQLite.Connection) is
      begin
         DB.Open (Path);
         DB.Set_Busy_Timeout (120.0);
      end Connect;

      package Plain is new Retry.Transactions (SQLite.Connection, Connect);

      procedure Add (DB : in out SQLite.Connection) is
      begin
         DB.Execute ("UPDATE t SET x = x + 1 WHERE id = 1");
      end Add;

      DB    : aliased SQLite.Connection;
      Other : aliased SQLite.Connection;
   begin
      Connect (Other);
      Other.Execute ("PRAGMA journal_mode = wal");
      Make_Table (Other);
      Make_Key_Table (Other);
      declare
         Writing : Transaction (Other'Access);

         task Caller is
            entry Start;
         end Caller;

         task body Caller is
         begin
            accept Start;
            Plain.Run_Once (By, DB, "order 1", Add'Access);
         end Caller;
      begin
         Add (Other);
         Caller.Start;
         delay 0.05;
         Writing.Commit;
      end;
      Answers (Other, "SELECT x FROM t WHERE id = 1", "102");
   end Key_Waits_For_Writer;

   ----------------
   -- PostgreSQL --
   ----------------

   --  Each transaction reads the rows that the other writes: the second transaction fails at its
   --  commit

   procedure Not_Serializable (T : in out Fixture) is
      pragma Unreferenced (T);

      Counted : aliased Retry.Metrics;
      By      : constant Retry.Policy := (null, Counted'Access, others => <>);
      DB      : aliased PostgreSQL.Connection;
      Other   : aliased PostgreSQL.Connection;

      procedure Connect (DB : in out PostgreSQL.Connection) is
      begin
         Tested_Databases.Connect (DB);
         DB.Execute ("SET default_transaction_isolation = 'serializable'");
      end Connect;

      procedure Put_Sum (DB : in out PostgreSQL.Connection; Id : String) is
      begin
         DB.Execute ("UPDATE t SET x = (SELECT sum(x) FROM t) WHERE id = " & Id);
      end Put_Sum;

      procedure Put_Other is
         Work : Transaction (Other'Access);
      begin
         Put_Sum (Other, "2");
         Work.Commit;
      end Put_Other;

      package Stopped is new Retry.Fault_Injection
        (PostgreSQL.Connection, Connect, Before_First_Commit => Put_Other);

      procedure Put_Tested (DB : in out PostgreSQL.Connection) is
      begin
         Put_Sum (DB, "1");
      end Put_Tested;
   begin
      Tested_Databases.PostgreSQL_Database.Open (Other);
      Make_Table (Other);
      Other.Close;
      Connect (Other);
      Stopped.Transactions.Run (By, DB, Put_Tested'Access);
      Answers (Other, "SELECT x FROM t WHERE id = 2", "200");
      Answers (Other, "SELECT x FROM t WHERE id = 1", "300");
      Failed_Once (Counted, Retry.Serialization_Failure);
   end Not_Serializable;

   procedure Newer_Key_Of_PostgreSQL (T : in out Fixture) is

      procedure Connect (DB : in out PostgreSQL.Connection) is
      begin
         Tested_Databases.Connect (DB);
         DB.Execute ("SET default_transaction_isolation = 'repeatable read'");
      end Connect;

      procedure Run is new Run_With_Newer_Key (PostgreSQL.Connection, Connect);

      Other : PostgreSQL.Connection;
   begin
      Tested_Databases.PostgreSQL_Database.Open (Other);
      Run (T, Other);
   end Newer_Key_Of_PostgreSQL;

   -------------
   -- MariaDB --
   -------------

   --  Returns False for servers before 10.6.18 and 10.11.8, which do not have this setting

   function Has_Snapshots (DB : in out MariaDB.Connection) return Boolean is
      Query : MariaDB.Statement;
   begin
      Query.Prepare_Client_Side (DB, "SHOW VARIABLES LIKE 'innodb_snapshot_isolation'");
      return Query.Step;
   end Has_Snapshots;

   procedure Old_Snapshot_Of_MariaDB (T : in out Fixture) is
      Counted : aliased Retry.Metrics;
      By      : constant Retry.Policy := (null, Counted'Access, others => <>);

      procedure Connect (DB : in out MariaDB.Connection) is
      begin
         Tested_Databases.Connect (DB);
         DB.Execute ("SET innodb_snapshot_isolation = ON");
      end Connect;

      package Plain is new Retry.Transactions (MariaDB.Connection, Connect);

      DB    : aliased MariaDB.Connection;
      Other : MariaDB.Connection;

      procedure Add (DB : in out MariaDB.Connection) is
         Query : MariaDB.Statement;
      begin
         T.Runs := T.Runs + 1;
         Query.Prepare_Client_Side (DB, "SELECT x FROM t WHERE id = 1");
         Assert (Query.Step, "a row");
         if T.Runs = 1 then
            Other.Execute ("UPDATE t SET x = 200 WHERE id = 1");
         end if;
         DB.Execute ("UPDATE t SET x = 1 +" & Query.As_Integer_64 (1)'Image & " WHERE id = 1");
      end Add;
   begin
      Tested_Databases.MariaDB_Database.Open (Other);
      Make_Table (Other);
      if Has_Snapshots (Other) then
         Plain.Run (By, DB, Add'Access);
         Answers (Other, "SELECT x FROM t WHERE id = 1", "201");
         Failed_Once (Counted, Retry.Serialization_Failure);
      end if;
   end Old_Snapshot_Of_MariaDB;

   procedure Newer_Key_Of_MariaDB (T : in out Fixture) is

      procedure Run is new Run_With_Newer_Key (MariaDB.Connection, Tested_Databases.Connect);

      Other : MariaDB.Connection;
   begin
      Tested_Databases.MariaDB_Database.Open (Other);
      Run (T, Other);
   end Newer_Key_Of_MariaDB;

   package Caller is new AUnit.Test_Caller (Fixture);

   type Test_List is array (Positive range <>) of Caller.Test_Case_Access;

   function Suite_Of (Tests : Test_List) return AUnit.Test_Suites.Access_Test_Suite is
      Result : constant AUnit.Test_Suites.Access_Test_Suite := AUnit.Test_Suites.New_Suite;
   begin
      for Test of Tests loop
         Result.Add_Test (Test);
      end loop;
      return Result;
   end Suite_Of;

   function SQLite_Suite return AUnit.Test_Suites.Access_Test_Suite is
     (Suite_Of
        ([Caller.Create ("SQLite, retry: a busy commit", Busy_Commit'Access),
          Caller.Create ("SQLite, retry: an old snapshot", Old_Snapshot_Of_SQLite'Access),
          Caller.Create
            ("SQLite, retry: a key waits for a writer", Key_Waits_For_Writer'Access)]));

   function PostgreSQL_Suite return AUnit.Test_Suites.Access_Test_Suite is
     (Suite_Of
        ([Caller.Create ("PostgreSQL, retry: not serializable", Not_Serializable'Access),
          Caller.Create
            ("PostgreSQL, retry: a key newer than the snapshot", Newer_Key_Of_PostgreSQL'Access)]));

   function MariaDB_Suite return AUnit.Test_Suites.Access_Test_Suite is
     (Suite_Of
        ([Caller.Create ("MariaDB, retry: an old snapshot", Old_Snapshot_Of_MariaDB'Access),
          Caller.Create
            ("MariaDB, retry: a key newer than the snapshot", Newer_Key_Of_MariaDB'Access)]));

end Retried_Isolation_Tests;
