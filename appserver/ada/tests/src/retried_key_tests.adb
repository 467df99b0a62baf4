--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

with Ada.Exceptions;
with Ada.Strings.Unbounded;
with Appserver.Retry.Key_Purges;
with Appserver.Retry.Key_Tables;
with Appserver.Retry.Transactions;
with Appserver.SQL.Injected_Errors;
with AUnit.Assertions;
with AUnit.Test_Caller;
with AUnit.Test_Fixtures;
with Checks;

package body Retried_Key_Tests is

   use Ada.Strings.Unbounded;
   use AUnit.Assertions;
   use Checks;
   use Database;
   use type SQL.Integer_64;

   package Retry renames Appserver.Retry;

   type Fixture is new AUnit.Test_Fixtures.Test_Fixture with record
      DB        : aliased Connection;
      --  Another connection, to check the effects
      Tested_DB : aliased Connection;
      --  The connection of the retried calls
   end record;

   overriding procedure Set_Up (T : in out Fixture);
   overriding procedure Tear_Down (T : in out Fixture);

   --  SQLite itself does not limit the length of a key

   overriding procedure Set_Up (T : in out Fixture) is
   begin
      Open (T.DB);
      T.DB.Execute ("CREATE TABLE t (id integer primary key, x integer)");
      T.DB.Execute ("INSERT INTO t VALUES (1, 100)");
      T.DB.Execute ("DROP TABLE IF EXISTS retry_key");
      T.DB.Execute
        ("CREATE TABLE retry_key (id varchar(255) primary key, result text, CHECK ("
         & Dialect.Length.all & "(id) <= 255))");
   end Set_Up;

   overriding procedure Tear_Down (T : in out Fixture) is
   begin
      T.Tested_DB.Close;
      T.DB.Close;
   end Tear_Down;

   package Plain is new Retry.Transactions (Connection, Connect);

   By : constant Retry.Policy := (others => <>);

   procedure Add_One (DB : in out SQL.Connection'Class) is
   begin
      DB.Execute ("UPDATE t SET x = x + 1 WHERE id = 1");
   end Add_One;

   function Added_One (DB : in out Connection) return String is
   begin
      Add_One (DB);
      return "added";
   end Added_One;

   -----------------
   -- Round trips --
   -----------------

   procedure Connect_Recorded (DB : in out Recorded.Connection) is
   begin
      Connect (Connection (DB));
   end Connect_Recorded;

   package Observed is new Retry.Transactions (Recorded.Connection, Connect_Recorded);

   --  Nothing is read before the first write, and nothing at all if the key is new

   procedure Key_First (T : in out Fixture) is
      Tested_DB : aliased Recorded.Connection;

      procedure Add (DB : in out Recorded.Connection) is
      begin
         Add_One (DB);
      end Add;

      function Added (DB : in out Recorded.Connection) return String is
      begin
         Add_One (DB);
         return "added";
      end Added;

      procedure Runs (Id, Commands : String) is
      begin
         Tested_DB.Forget;
         Assert
           (Observed.Run_Once (By, Tested_DB, Id, Added'Access), "added", "the result of the call");
         Assert (Tested_DB.Commands, Commands, Id);
      end Runs;
   begin
      Connect_Recorded (Tested_DB);
      Runs ("order 1", "INSERT UPDATE UPDATE");
      Runs ("order 1", "INSERT SELECT");
      Tested_DB.Forget;
      Observed.Run_Once (By, Tested_DB, "order 2", Add'Access);
      Assert (Tested_DB.Commands, "INSERT UPDATE", "the statements of a call without a result");
      Answers (T.DB, "SELECT x FROM t WHERE id = 1", "102");
   end Key_First;

   ----------
   -- Keys --
   ----------

   procedure Key_Exists (T : in out Fixture) is
      Counted : aliased Retry.Metrics;
      By      : constant Retry.Policy := (null, Counted'Access, others => <>);
   begin
      T.DB.Execute ("INSERT INTO retry_key VALUES ('order 1', 'the first')");
      Assert
        (Plain.Run_Once (By, T.Tested_DB, "order 1", Added_One'Access), "the first",
"the stored result");
      Assert (T.Tested_DB.In_Autocommit, "the transaction has ended");
      Assert
        (Plain.Run_Once (By, T.Tested_DB, "order 2", Added_One'Access), "added",
"a call with another key");
      Answers (T.DB, "SELECT x FROM t WHERE id = 1", "101");
      Answers (T.DB, "SELECT result FROM retry_key WHERE id = 'order 1'", "the first");
      Assert (Counted.Statistics.Retries'Image, " 0", "retries");
   end Key_Exists;

   --  A nested call whose key exists does not affect the transaction

   procedure Key_Of_A_Part (T : in out Fixture) is

      procedure Outer_Work (DB : in out Connection) is
      begin
         Add_One (DB);
         Assert
           (Plain.Run_Once (By, T.Tested_DB, "order 1", Added_One'Access),
            "the first", "the stored result");
         Add_One (DB);
      end Outer_Work;
   begin
      T.DB.Execute ("INSERT INTO retry_key VALUES ('order 1', 'the first')");
      Plain.Run (By, T.Tested_DB, Outer_Work'Access);
      Answers (T.DB, "SELECT x FROM t WHERE id = 1", "102");
   end Key_Of_A_Part;

   procedure Long_Key (T : in out Fixture) is
      use type SQL.Error_Kind;

      Longest : constant String := [1 .. 255 => 'k'];

      procedure Is_Too_Long (Id : String) is
      begin
         Assert (False, "no exception: " & Plain.Run_Once (By, T.Tested_DB, Id, Added_One'Access));
      exception
         when Error : SQL.SQL_Error =>
            Assert
              (SQL.Error_Of (Error).Kind in SQL.Wrong_Value | SQL.Check_Violation,
               SQL.Message_Of (Error));
      end Is_Too_Long;
   begin
      Assert
        (Plain.Run_Once (By, T.Tested_DB, Longest, Added_One'Access), "added", "255 characters");
      Is_Too_Long (Longest & 'a');
      Is_Too_Long (Longest & 'b');
      Answers (T.DB, "SELECT x FROM t WHERE id = 1", "101");
      Answers (T.DB, "SELECT count(*) FROM retry_key", "1");
   end Long_Key;

   ----------------------
   -- Concurrent calls --
   ----------------------

   protected type Signal is
      procedure Give;
      entry Wait;
   private
      Is_Signaled : Boolean := False;
   end Signal;

   protected body Signal is

      procedure Give is
      begin
         Is_Signaled := True;
      end Give;

      entry Wait when Is_Signaled is
      begin
         null;
      end Wait;

   end Signal;

   procedure Wait_For (Sent : in out Signal) is
   begin
      select
         Sent.Wait;
      or
         delay 120.0;
      end select;
   end Wait_For;

   --  The second call arrives while the first call, which holds the key, is working. The pause lets
   --  the second call reach the key; without the pause, the test proves less.

   procedure Call_Two
     (Fails  : Boolean;
      First  : out Unbounded_String;
      Second : out Unbounded_String)
   is
      Counted : aliased Retry.Metrics;
      By      : constant Retry.Policy :=
        (null, Counted'Access, Attempts => 1_000, others => <>);
      Has_Key   : Signal;
      Is_Coming : Signal;

      function First_Work (DB : in out Connection) return String is
      begin
         Add_One (DB);
         Has_Key.Give;
         Wait_For (Is_Coming);
         delay 0.05;
         if Fails then
            SQL.Injected_Errors.Fail ("23514");
         end if;
         return "first";
      end First_Work;

      function Second_Work (DB : in out Connection) return String is
      begin
         Add_One (DB);
         return "second";
      end Second_Work;

      task Caller;

      task body Caller is
         Tested_DB : aliased Connection;
      begin
         First := To_Unbounded_String
           (Plain.Run_Once (By, Tested_DB, "order 1", First_Work'Access));
      exception
         when SQL.SQL_Error =>
            First := To_Unbounded_String ("failed");
      end Caller;

      Tested_DB : aliased Connection;
   begin
      Connect (Tested_DB);
      Wait_For (Has_Key);
      Is_Coming.Give;
      Second := To_Unbounded_String
        (Plain.Run_Once (By, Tested_DB, "order 1", Second_Work'Access));
      Assert
        (Counted.Statistics.Faults (Retry.Serialization_Failure)'Image, " 0",
         "the caller that waited for the key reads its result in the same transaction");
   end Call_Two;

   --  In SQLite, the second call may prevent the first from committing, and so take effect first

   procedure Two_At_Once (T : in out Fixture) is
      First, Second : Unbounded_String;
   begin
      Call_Two (Fails => False, First => First, Second => Second);
      Assert (To_String (Second), To_String (First), "both calls return the same result");
      Assert (First = "first" or else First = "second", "a result, not " & To_String (First));
      Answers (T.DB, "SELECT x FROM t WHERE id = 1", "101");
      Answers (T.DB, "SELECT count(*) FROM retry_key", "1");
   end Two_At_Once;

   procedure First_Fails (T : in out Fixture) is
      First, Second : Unbounded_String;
   begin
      Call_Two (Fails => True, First => First, Second => Second);
      Assert (To_String (First), "failed", "the first call fails");
      Assert (To_String (Second), "second", "the second call succeeds");
      Answers (T.DB, "SELECT x FROM t WHERE id = 1", "101");
      Answers (T.DB, "SELECT result FROM retry_key", "second");
   end First_Fails;

   procedure Make_Table_Of_Requests (T : in out Fixture) is
   begin
      T.DB.Execute ("DROP TABLE retry_key");
      T.DB.Execute
        ("CREATE TABLE retry_key (id varchar(255) primary key, result text, request varchar(64),"
         & " created " & (if Dialect.Name.all = "PostgreSQL" then "timestamptz" else "timestamp")
         & " default current_timestamp)");
   end Make_Table_Of_Requests;

   --  The same key with another request is an error, and has no effect

   procedure Another_Request (T : in out Fixture) is

      function Added (Id, Request : String) return String is
        (Plain.Run_Once (By, T.Tested_DB, Id, Added_One'Access, Request => Request));

      procedure Add (DB : in out Connection) is
      begin
         Add_One (DB);
      end Add;

      procedure Expect_Key_Reused (Request : String) is
      begin
         Assert (False, "no exception: " & Added ("order 1", Request));
      exception
         when Retry.Key_Reused_Error =>
            Assert (T.Tested_DB.In_Autocommit, "the transaction has ended");
      end Expect_Key_Reused;
   begin
      Make_Table_Of_Requests (T);
      Assert (Added ("order 1", "7 apples"), "added", "first");
      Assert (Added ("order 1", "7 apples"), "added", "the same request again");
      Expect_Key_Reused ("8 apples");
      Expect_Key_Reused ("7 apples ");
      begin
         Plain.Run_Once (By, T.Tested_DB, "order 1", Add'Access, Request => "8 apples");
         Assert (False, "no exception");
      exception
         when Retry.Key_Reused_Error => null;
      end;
      Assert (Added ("order 2", "8 apples"), "added", "a call with another key");
      T.DB.Execute ("INSERT INTO retry_key (id, result) VALUES ('order 3', 'earlier')");
      Assert (Added ("order 3", "9 apples"), "earlier", "a key without a fingerprint");
      Answers (T.DB, "SELECT x FROM t WHERE id = 1", "102");
      Answers
        (T.DB, "SELECT request FROM retry_key WHERE id = 'order 1'",
         "dd2c03f6f72b3d03311f695a17a3835de250ed9c84e47e2dd6974aa3a1400ee4");
   end Another_Request;

   procedure Old_Keys (T : in out Fixture) is
      Hour    : constant := 3_600.0;
      Deleted : SQL.Integer_64;

      procedure Delete_Older (Than : Duration; Max_Rows : Positive; Expected : SQL.Integer_64) is
      begin
         Retry.Key_Tables.Delete_Older ("retry_key", T.DB, Than, Deleted, Max_Rows);
         Assert (Deleted'Image, Expected'Image, "the number of deleted keys");
      end Delete_Older;
   begin
      Make_Table_Of_Requests (T);
      T.DB.Execute
        ("INSERT INTO retry_key (id, created) VALUES ('a', '2020-01-02 03:04:05'),"
         & " ('b', '2021-01-02 03:04:05'), ('c', '2022-01-02 03:04:05')");
      Assert
        (Plain.Run_Once (By, T.Tested_DB, "new", Added_One'Access, Request => "x"), "added", "now");
      Delete_Older (24 * Hour, Max_Rows => 2, Expected => 2);
      Delete_Older (24 * Hour, Max_Rows => 2, Expected => 1);
      Delete_Older (24 * Hour, Max_Rows => 2, Expected => 0);
      Answers (T.DB, "SELECT id FROM retry_key", "new");
   end Old_Keys;

   --  The job fails twice, purges, and is then canceled

   Purge_Waits    : Natural := 0;
   Purge_Openings : Natural := 0;

   procedure Open_For_Purge (DB : in out Connection) is
   begin
      Purge_Openings := Purge_Openings + 1;
      if Purge_Openings <= 2 then
         Appserver.SQL.Injected_Errors.Fail ("08001");
      end if;
      Connect (DB);
   end Open_For_Purge;

   procedure Wait_For_Purge (Time : Retry.Pause; Stop : access Retry.Cancellation) is
   begin
      Assert (Time = 60.0, "interval");
      Purge_Waits := Purge_Waits + 1;
      if Purge_Waits = 4 then
         Stop.Cancel;
      end if;
   end Wait_For_Purge;

   package Purges is new Retry.Key_Purges
     (Connection, Open_For_Purge, Max_Rows => 2, Wait => Wait_For_Purge);

   procedure Purged (T : in out Fixture) is
      Stop     : aliased Retry.Cancellation;
      Deleted  : SQL.Integer_64 := 0;
      Failures : Natural        := 0;

      procedure Note_Purge (Keys : SQL.Integer_64) is
      begin
         Deleted := Deleted + Keys;
      end Note_Purge;

      procedure Note_Failure (Error : Ada.Exceptions.Exception_Occurrence) is
         pragma Unreferenced (Error);
      begin
         Failures := Failures + 1;
      end Note_Failure;
   begin
      Make_Table_Of_Requests (T);
      T.DB.Execute
        ("INSERT INTO retry_key (id, created) VALUES ('a', '2020-01-02 03:04:05'),"
         & " ('b', '2021-01-02 03:04:05'), ('c', '2022-01-02 03:04:05')");
      Assert
        (Plain.Run_Once (By, T.Tested_DB, "new", Added_One'Access, Request => "x"), "added", "now");
      Purge_Waits    := 0;
      Purge_Openings := 0;
      Purges.Run
        (Expiry => 86_400.0, Interval => 60.0, Stop => Stop'Access,
         On_Purge => Note_Purge'Access, On_Failure => Note_Failure'Access);
      Assert (Failures = 2, "failures:" & Failures'Image);
      Assert (Deleted'Image, " 3", "the number of deleted keys");
      Answers (T.DB, "SELECT id FROM retry_key", "new");
   end Purged;

   --  The time zones of the sessions that write and delete keys do not affect the age of a key

   procedure Keys_In_Zones (T : in out Fixture) is
      Hour    : constant := 3_600.0;
      Deleted : SQL.Integer_64;

      procedure Set_Zone (DB : in out Connection; Hours : String) is
      begin
         if Dialect.Name.all = "PostgreSQL" then
            DB.Execute ("SET TIME ZONE INTERVAL '" & Hours & "' HOUR TO MINUTE");
         elsif Dialect.Name.all = "MariaDB" then
            DB.Execute ("SET time_zone = '" & Hours & "'");
         end if;
      end Set_Zone;

      procedure Call_And_Delete (Written_In, Deleted_In : String) is
      begin
         Set_Zone (T.Tested_DB, Written_In);
         Assert (Plain.Run_Once (By, T.Tested_DB, Written_In, Added_One'Access), "added", "now");
         Set_Zone (T.DB, Deleted_In);
         Retry.Key_Tables.Delete_Older ("retry_key", T.DB, Hour, Deleted);
         Assert (Deleted'Image, " 0", "keys of " & Written_In & " deleted in " & Deleted_In);
      end Call_And_Delete;
   begin
      Make_Table_Of_Requests (T);
      Connect (T.Tested_DB);
      Call_And_Delete ("-08:00", Deleted_In => "+00:00");
      Call_And_Delete ("+00:00", Deleted_In => "+09:00");
      Call_And_Delete ("+09:00", Deleted_In => "-08:00");
   end Keys_In_Zones;

   package Caller is new AUnit.Test_Caller (Fixture);

   function Suite return AUnit.Test_Suites.Access_Test_Suite is
      Result : constant AUnit.Test_Suites.Access_Test_Suite := AUnit.Test_Suites.New_Suite;

      procedure Add (Text : String; Test : Caller.Test_Method) is
      begin
         Result.Add_Test (Caller.Create (Dialect.Name.all & ", retry: " & Text, Test));
      end Add;
   begin
      Add ("the key is inserted first", Key_First'Access);
      Add ("an existing key", Key_Exists'Access);
      Add ("a key of a nested call", Key_Of_A_Part'Access);
      Add ("a key that is too long", Long_Key'Access);
      Add ("a key of another request", Another_Request'Access);
      Add ("old keys", Old_Keys'Access);
      Add ("a job purges keys", Purged'Access);
      Add ("keys in time zones", Keys_In_Zones'Access);
      Add ("concurrent calls with a key", Two_At_Once'Access);
      Add ("two calls, of which the first fails", First_Fails'Access);
      return Result;
   end Suite;

end Retried_Key_Tests;
