--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

with Ada.Calendar;
with Ada.Environment_Variables;
with Ada.Strings.Fixed;
with Ada.Synchronous_Barriers;
with Appserver.Monitors;
with Appserver.SQL.Batches;
with Appserver.SQL.MariaDB;
with Appserver.SQL.Monitored;
with AUnit.Assertions;
with AUnit.Test_Caller;
with AUnit.Test_Fixtures;
with Checks;
with GNAT.Sockets;
with Tested_Databases;

package body MariaDB_Tests is

   use Ada.Strings.Fixed;
   use Appserver.SQL;
   use AUnit.Assertions;
   use Checks;
   use type SQL.Integer_64;

   type Fixture is new AUnit.Test_Fixtures.Test_Fixture with record
      DB    : aliased MariaDB.Connection;
      Query : MariaDB.Statement;
   end record;

   overriding procedure Set_Up (T : in out Fixture);
   overriding procedure Tear_Down (T : in out Fixture);

   overriding procedure Set_Up (T : in out Fixture) is
   begin
      Tested_Databases.MariaDB_Database.Open (T.DB);
   end Set_Up;

   overriding procedure Tear_Down (T : in out Fixture) is
   begin
      T.DB.Close;
   end Tear_Down;

   --  The victim of a deadlock no longer has a transaction: a commit must not look successful

   procedure Deadlock (T : in out Fixture) is

      Victims     : Natural := 0 with Atomic;
      Both_Locked : Ada.Synchronous_Barriers.Synchronous_Barrier (2);

      procedure Change_Both (DB : aliased in out MariaDB.Connection; First, Second : String) is
         Work    : Transaction (DB'Access);
         Ignored : Boolean;

         procedure Change_Second is
         begin
            DB.Execute ("UPDATE t SET x = x + 1 WHERE id = " & Second);
         end Change_Second;

         procedure Commit is
         begin
            Work.Commit;
         end Commit;
      begin
         DB.Execute ("UPDATE t SET x = x + 1 WHERE id = " & First);
         Ada.Synchronous_Barriers.Wait_For_Release (Both_Locked, Ignored);
         begin
            Change_Second;
         exception
            when Error : SQL_Error =>
               Assert (State_Of (Error), "40001", "a deadlock");
               Victims := Victims + 1;
               Is_Refused (Commit'Access, "25P01");
               return;
         end;
         Work.Commit;
      end Change_Both;

   begin
      T.DB.Execute ("CREATE TABLE t (id integer PRIMARY KEY, x integer)");
      T.DB.Execute ("INSERT INTO t VALUES (1, 0), (2, 0)");
      declare
         task Other;
         task body Other is
            DB : aliased MariaDB.Connection;
         begin
            Tested_Databases.Connect (DB);
            Change_Both (DB, "2", "1");
         end Other;
      begin
         Change_Both (T.DB, "1", "2");
      end;
      Assert (Victims = 1, "one transaction is the deadlock's victim");
      Answers (T.DB, "SELECT sum(x) FROM t", "2");
   end Deadlock;

   procedure Parameters (T : in out Fixture) is
      procedure Has (Text : String; Count : Natural) is
      begin
         T.Query.Prepare_Client_Side (T.DB, Text);
         Assert (T.Query.Parameter_Count = Count, Text & T.Query.Parameter_Count'Image);
      end Has;

      procedure Use_Carried_Out is
      begin
         T.Query.Prepare_Client_Side (T.DB, "SELECT /*! ? */ 1, ?");
      end Use_Carried_Out;
   begin
      Has ("SELECT 1", 0);
      Has ("SELECT ?, ?", 2);
      Has ("SELECT '?', ""?"", `?`, 'it''s ?', '\'?'", 0);
      Has ("SELECT ? # ?" & ASCII.LF & ", ? -- ?", 2);
      Has ("SELECT 5--?, ?", 2);
      Has ("SELECT /* ? */ ?", 1);
      Has ("SELECT /*! 1 */", 0);
      Has ("SELECT 'open ?", 0);
      Has ("", 0);
      Is_Refused (Use_Carried_Out'Access, "0A000");
   end Parameters;

   --  In this mode, a backslash is not an escape character

   procedure Without_Backslashes (T : in out Fixture) is
   begin
      T.DB.Execute ("SET sql_mode = 'NO_BACKSLASH_ESCAPES'");
      T.Query.Prepare_Client_Side (T.DB, "SELECT '\', ?");
      Assert (T.Query.Parameter_Count = 1, "one parameter");
      T.Query.Bind (1, "\' OR ''='");
      Assert (T.Query.Step, "a row");
      Assert (T.Query.As_Text (2), "\' OR ''='", "the text is unchanged");
   end Without_Backslashes;

   procedure Unsigned (T : in out Fixture) is
      procedure Read is
      begin
         Assert (T.Query.As_Integer_64 (1) = 0, "unreachable");
      end Read;
   begin
      T.DB.Execute ("CREATE TABLE t (x bigint unsigned, y tinyint unsigned)");
      T.DB.Execute ("INSERT INTO t VALUES (18446744073709551615, 255)");
      T.Query.Prepare (T.DB, "SELECT x, y FROM t");
      Assert (T.Query.Step, "a row");
      Is_Refused (Read'Access, "22003", "column 1");
      Assert (T.Query.As_Text (1), "18446744073709551615", "a number above the range, as text");
      Assert (T.Query.As_Integer_64 (2) = 255, "a small unsigned number");
   end Unsigned;

   --  The rows of a stored procedure are read, and its last result is skipped

   procedure Procedures (T : in out Fixture) is
   begin
      T.DB.Execute ("CREATE OR REPLACE PROCEDURE appserver_test () SELECT 7");
      for Time in 1 .. 2 loop
         Answers (T.DB, "CALL appserver_test ()", "7");
      end loop;
      T.Query.Prepare (T.DB, "CALL appserver_test ()");
      for Time in 1 .. 2 loop
         Assert (T.Query.Step, "a row");
         Assert (T.Query.As_Integer_64 (1) = 7, "seven");
         Assert (not T.Query.Step, "one row");
      end loop;
      T.DB.Execute ("DROP PROCEDURE appserver_test");
   end Procedures;

   --  A procedure that fails after its first result, in a statement, and during the rows of a
   --  statement

   procedure Late_Errors (T : in out Fixture) is

      procedure Execute is
      begin
         T.DB.Execute ("CALL appserver_test ()");
      end Execute;

      procedure Execute_Statement is
      begin
         T.Query.Execute;
      end Execute_Statement;

      procedure Read is
      begin
         while T.Query.Step loop
            Assert (T.Query.As_Integer_64 (1) = 7, "seven");
         end loop;
      end Read;

      procedure Read_One is
      begin
         if T.Query.Step then
            T.Query.Reset;
         end if;
      end Read_One;

      procedure Is_Refused_Each_Way (State : SQL_State; Streamed : Boolean) is
      begin
         T.Query.Set_Streamed (Streamed);
         for Time in 1 .. 2 loop
            Is_Refused (Execute_Statement'Access, State);
            Is_Refused (Read'Access, State);
            Is_Refused (Read_One'Access, State);
            Answers (T.DB, "SELECT 1", "1");
         end loop;
      end Is_Refused_Each_Way;

      procedure Fails_With (State : SQL_State; Statements : String) is
      begin
         T.DB.Execute
           ("CREATE OR REPLACE PROCEDURE appserver_test () BEGIN " & Statements & "; END");
         Is_Refused (Execute'Access, State);
         for Streamed in Boolean loop
            T.Query.Prepare_Client_Side (T.DB, "CALL appserver_test ()");
            Is_Refused_Each_Way (State, Streamed);
            T.Query.Prepare (T.DB, "CALL appserver_test ()");
            Is_Refused_Each_Way (State, Streamed);
         end loop;
         T.Query.Close;
      end Fails_With;
   begin
      T.DB.Execute ("CREATE TABLE t (id integer PRIMARY KEY)");
      T.DB.Execute ("INSERT INTO t VALUES (1)");
      Fails_With ("23000", "SELECT 7; INSERT INTO t VALUES (1)");
      Fails_With ("23000", "SELECT 7; SELECT id FROM t; INSERT INTO t VALUES (1)");
      Fails_With ("23000", "SELECT 7; INSERT INTO t VALUES (2), (1) RETURNING id");
      Fails_With ("45000", "SELECT 7; SIGNAL SQLSTATE '45000'");
      Answers (T.DB, "SELECT count(*) FROM t", "1");
      T.DB.Execute ("DROP PROCEDURE appserver_test");
   end Late_Errors;

   --  The mode may change between binding a value and execution

   procedure Changed_Mode (T : in out Fixture) is

      Hard : constant String := "\' OR ''='";

      procedure Set_Mode (To : String) is
      begin
         T.DB.Execute ("SET sql_mode = '" & To & "'");
      end Set_Mode;

      procedure Comes_Back (Bound_In, Run_In : String) is
      begin
         Set_Mode (Bound_In);
         T.Query.Prepare_Client_Side (T.DB, "SELECT ?");
         T.Query.Bind (1, Hard);
         Set_Mode (Run_In);
         Assert (T.Query.Step, "a row");
         Assert (T.Query.As_Text (1), Hard, "the text is unchanged");
         T.Query.Close;
      end Comes_Back;

      procedure Run is
      begin
         T.Query.Execute;
      end Run;

      procedure Change_In_Batch is
         Insert : MariaDB.Statement;
         Counts : Count_List (1 .. 3);

         procedure Bind (To : in out SQL.Statement'Class; Element : Positive) is
         begin
            To.Bind (1, Hard);
            if Element = 2 then
               Set_Mode ("NO_BACKSLASH_ESCAPES");
            end if;
         end Bind;
      begin
         Set_Mode ("");
         Insert.Prepare (T.DB, "INSERT INTO t VALUES (?)");
         Batches.Execute (Insert, Bind'Access, Counts);
      end Change_In_Batch;

      Without : constant String := "NO_BACKSLASH_ESCAPES";
   begin
      Comes_Back (Bound_In => "", Run_In => Without);
      Comes_Back (Bound_In => Without, Run_In => "");
      Set_Mode (Without);
      T.Query.Prepare_Client_Side (T.DB, "SELECT '\', ?");
      Set_Mode ("");
      Is_Refused (Run'Access, "0A000", "parameters");
      Set_Mode (Without);
      T.Query.Execute;
      T.DB.Execute ("CREATE TABLE t (x text)");
      Is_Refused (Change_In_Batch'Access, "0A000", "SQL mode");
      Answers (T.DB, "SELECT count(*) FROM t", "0");
   end Changed_Mode;

   procedure Targets (T : in out Fixture) is
      pragma Unreferenced (T);

      procedure Is_Malformed (Target : String) is
         DB : MariaDB.Connection;

         procedure Open is
         begin
            DB.Open (Target);
         end Open;
      begin
         Is_Refused (Open'Access, "08001", "the target must have the form");
      end Is_Malformed;
   begin
      Is_Malformed ("");
      Is_Malformed ("mariadb://");
      Is_Malformed ("postgresql://localhost/x");
      Is_Malformed ("mariadb://u:p@localhost:x/d");
      Is_Malformed ("mariadb://u:p@localhost:/d");
      Is_Malformed ("mariadb://u:p%4@localhost/d");
      Is_Malformed ("mariadb://u:p@localhost/d?pipe=x");
   end Targets;

   -----------------
   -- Time limits --
   -----------------

   procedure Time_Limit (T : in out Fixture) is
      procedure Wait is
      begin
         T.DB.Execute ("SELECT sleep(300), 1 FROM dual");
      end Wait;

      procedure Work is
      begin
         T.DB.Execute
           ("SELECT count(*) FROM seq_1_to_1000000 a JOIN seq_1_to_1000000 b ON a.seq + b.seq = 7");
      end Work;
      --  The limit may also stop the query that reads it

      procedure Read_Least_Limit is
      begin
         Answers (T.DB, "SELECT @@max_statement_time", "0.000001");
      exception
         when Error : SQL_Error =>
            Assert (State_Of (Error), "57014", "state");
      end Read_Least_Limit;
   begin
      T.DB.Set_Statement_Limit (1.0);
      Answers (T.DB, "SELECT @@max_statement_time", "1.000000");
      Is_Refused (Wait'Access, "57014");
      Is_Refused (Work'Access, "57014");
      T.DB.Set_Statement_Limit (0.0);
      Answers (T.DB, "SELECT @@max_statement_time", "0.000000");
      T.DB.Set_Statement_Limit (0.000_000_4);
      Read_Least_Limit;
   end Time_Limit;

   --  A server that accepts connections and does not respond

   procedure Silent (T : in out Fixture) is
      pragma Unreferenced (T);
      use GNAT.Sockets;

      Listener : Socket_Type;
      DB       : MariaDB.Connection;

      procedure Open is
      begin
         DB.Open
           (Host            => "127.0.0.1",
            User            => "nobody",
            Password        => "",
            Port            => MariaDB.Port_Number (Get_Socket_Name (Listener).Port),
            Connect_Timeout => 1.0);
      end Open;
   begin
      Create_Socket (Listener);
      Bind_Socket (Listener, (Family_Inet, Loopback_Inet_Addr, Any_Port));
      Listen_Socket (Listener);
      Is_Refused (Open'Access, "08001");
      Assert (not DB.Is_Open, "closed");
      Close_Socket (Listener);
   end Silent;

   procedure Responds_Too_Late (T : in out Fixture) is
      pragma Unreferenced (T);

      DB : MariaDB.Connection;

      procedure Wait is
      begin
         DB.Execute ("SELECT sleep(300)");
      end Wait;
   begin
      DB.Open
        (Ada.Environment_Variables.Value (Tested_Databases.MariaDB_Variable),
         Response_Timeout => 10.0);
      Answers (DB, "SELECT 1", "1");
      Is_Refused (Wait'Access, "08006");
      Assert (not DB.Is_Connected, "lost");
   end Responds_Too_Late;

   --  If the connection was opened without a database, the server cannot undo a USE

   procedure Reset_Without_Database (T : in out Fixture) is
      pragma Unreferenced (T);

      Target : constant String :=
        Ada.Environment_Variables.Value (Tested_Databases.MariaDB_Variable);
      Path   : constant Positive :=
        Index (Target, "/", From => Target'First + String'("mariadb://")'Length);
      Name   : constant String := Target (Path + 1 .. Target'Last);
      DB     : MariaDB.Connection;

      procedure Reset is
      begin
         DB.Reset_Session;
      end Reset;

      procedure Open is
      begin
         DB.Open (Target (Target'First .. Path - 1));
      end Open;
   begin
      Open;
      DB.Execute ("SET @x = 1");
      DB.Reset_Session;
      Answers (DB, "SELECT database() IS NULL AND @x IS NULL", "1");
      DB.Execute ("USE " & Name);
      DB.Execute ("SET @x = 1");
      for Time in 1 .. 2 loop
         Is_Refused (Reset'Access, "0A000", "USE");
      end loop;
      Answers (DB, "SELECT database()", Name);
      Answers (DB, "SELECT @x IS NULL", "1");
      DB.Close;
      Open;
      DB.Reset_Session;
      Answers (DB, "SELECT database() IS NULL", "1");
   end Reset_Without_Database;

   --  A request to stop an idle session does not stop a later statement

   procedure Killed_While_Idle (T : in out Fixture) is
      Other : MariaDB.Connection;
   begin
      T.Query.Prepare_Client_Side (T.DB, "SELECT connection_id()");
      Assert (T.Query.Step, "a row");
      Tested_Databases.Connect (Other);
      Other.Execute ("KILL QUERY " & T.Query.As_Text (1));
      T.Query.Reset;
      T.DB.Execute ("SELECT sleep(0.1), 1 FROM dual");
      T.Query.Prepare (T.DB, "SELECT connection_id()");
      Assert (T.Query.Step, "a row");
      Other.Execute ("KILL QUERY " & T.Query.As_Text (1));
      Assert (not T.Query.Step and then T.Query.Step, "prepared");
   end Killed_While_Idle;

   --  A server without TLS is rejected if TLS is requested, and so is a server without a trusted
   --  certificate

   procedure With_TLS (T : in out Fixture) is
      DB : MariaDB.Connection;

      procedure Open (TLS : MariaDB.TLS_Mode) is
      begin
         DB.Open
           (Ada.Environment_Variables.Value (Tested_Databases.MariaDB_Variable), TLS => TLS);
      end Open;

      procedure Open_Encrypted is
      begin
         Open (MariaDB.Encrypted);
      end Open_Encrypted;

      procedure Open_Authenticated is
      begin
         Open (MariaDB.Authenticated);
      end Open_Authenticated;

      Cipher : constant String := "SELECT variable_value <> '' FROM"
        & " information_schema.session_status WHERE variable_name = 'Ssl_cipher'";
   begin
      T.Query.Prepare_Client_Side (T.DB, "SELECT @@have_ssl");
      Assert (T.Query.Step, "a row");
      if T.Query.As_Text (1) = "YES" then
         Open_Encrypted;
         Answers (DB, Cipher, "1");
         DB.Close;
      else
         Is_Refused (Open_Encrypted'Access, "08001");
      end if;
      Is_Refused (Open_Authenticated'Access, "08001");
      Open (MariaDB.Unencrypted);
      Answers (DB, Cipher, "0");
   end With_TLS;

   -------------
   -- Batches --
   -------------

   type Money is delta 0.01 digits 12;
   procedure Bind_Money is new Bind_Decimal (Money);

   procedure Bind_All_Types (To : in out SQL.Statement'Class; Element : Positive) is
      Bytes : constant Blob (1 .. 3) := [0, 39, Byte (Element)];
   begin
      To.Bind (1, Integer_64 (Element));
      To.Bind (2, (if Element = 1 then Integer_64'First else Integer_64'Last));
      To.Bind (3, (if Element = 1 then 0.1 else -1.0e300));
      Bind_Money (To, 4, -12.30);
      To.Bind
        (5, Ada.Calendar.Time'(Ada.Calendar.Time_Of (1952, 11, 27, 86_399.123_456)));
      To.Bind (6, Date'(1815, 12, 10));
      To.Bind (7, Bytes);
      To.Bind (8, "'\""; DROP TABLE t; --");
      To.Bind (9, Element = 1);
      if Element = 3 then
         To.Bind (8, "");
      end if;
   end Bind_All_Types;

   --  Each value is the same as after a single execution, whether or not a backslash is an escape
   --  character

   procedure Batch_Values (T : in out Fixture) is

      Columns : constant String :=
        " (id bigint, n bigint, f double, m decimal(12, 2), t datetime(6), d date, b blob,"
        & " x text, y boolean)";
      Values  : constant String := " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)";
      Insert  : MariaDB.Statement;
      Counts  : Count_List (1 .. 3);

      procedure Compare (Text : String) is
      begin
         T.DB.Execute ("DELETE FROM t");
         T.DB.Execute ("DELETE FROM account");
         T.Query.Prepare (T.DB, "INSERT INTO account" & Values);
         for I in Counts'Range loop
            Bind_All_Types (T.Query, I);
            T.Query.Execute;
         end loop;
         T.Query.Close;
         Batches.Execute (Insert, Bind_All_Types'Access, Counts);
         Answers (T.DB, "SELECT count(*) FROM t NATURAL JOIN account", "3");
         Assert (Counts = [1, 1, 1], Text);
      end Compare;

      procedure Compare_Both is
      begin
         Insert.Prepare (T.DB, "INSERT INTO t" & Values);
         Compare ("prepared");
         Insert.Prepare_Client_Side (T.DB, "INSERT INTO t" & Values);
         Compare ("used");
         Insert.Close;
      end Compare_Both;

   begin
      T.DB.Execute ("CREATE TABLE t" & Columns);
      T.DB.Execute ("CREATE TABLE account" & Columns);
      Compare_Both;
      T.DB.Execute ("SET sql_mode = concat(@@sql_mode, ',NO_BACKSLASH_ESCAPES')");
      Compare_Both;
   end Batch_Values;

   --  A text of the program is never treated as more than one statement

   procedure Batch_Ends (T : in out Fixture) is

      Insert : MariaDB.Statement;
      Counts : Count_List (1 .. 3);

      procedure Execute_Two is
      begin
         T.DB.Execute ("DELETE FROM t; DELETE FROM t");
      end Execute_Two;

      procedure Bind (To : in out SQL.Statement'Class; Element : Positive) is
      begin
         To.Bind (1, Integer_64 (Element / 2));
      end Bind;

      procedure Fail is
      begin
         Batches.Execute (Insert, Bind'Access, Counts);
      end Fail;

      procedure Batch_Of_Two is
      begin
         Insert.Prepare_Client_Side (T.DB, "INSERT INTO t VALUES (?); DELETE FROM t");
         Batches.Execute (Insert, Bind'Access, Counts);
      end Batch_Of_Two;

   begin
      T.DB.Execute ("CREATE TABLE t (id integer PRIMARY KEY)");
      Insert.Prepare (T.DB, "INSERT INTO t VALUES (?)");
      Is_Refused (Fail'Access, "23000");
      Is_Refused (Execute_Two'Access, "42000");
      Insert.Prepare (T.DB, "REPLACE INTO t VALUES (?) RETURNING id");
      Batches.Execute (Insert, Bind'Access, Counts);
      Answers (T.DB, "SELECT count(*) FROM t", "2");
      Is_Refused (Execute_Two'Access, "42000");
      Is_Refused (Batch_Of_Two'Access, "42000");
      Answers (T.DB, "SELECT count(*) FROM t", "2");
   end Batch_Ends;

   --  The names of queries contain no literals in any SQL mode

   Watched : aliased Appserver.Monitors.Monitor;

   package Monitored is new Appserver.SQL.Monitored
     (Watched'Access, MariaDB.Connection, MariaDB.Statement, MariaDB.Prepare,
      MariaDB.Prepare_Client_Side);

   procedure Query_Names (T : in out Fixture) is
      pragma Unreferenced (T);

      DB : Monitored.Connection;

      procedure Is_Named (Text, Name : String) is
         use Appserver.Monitors;
      begin
         DB.Execute (Text);
         Assert
           (Natural (Watched.Query_Statistics (No_Request, Name).Count) = 1,
            Text & " is not recorded as " & Name);
      end Is_Named;
   begin
      DB.Open (Ada.Environment_Variables.Value (Tested_Databases.MariaDB_Variable));
      Is_Named ("SELECT 'it\'s secret' AS x", "SELECT ? AS x");
      Is_Named
        ("SELECT ""it\""s"" AS y # don't" & ASCII.LF & ", 'b' AS z", "SELECT ? AS y , ? AS z");
      DB.Execute ("SET sql_mode = 'ANSI_QUOTES,NO_BACKSLASH_ESCAPES'");
      Is_Named ("SELECT 'a\' AS ""v w"", 'b' AS u", "SELECT ? AS ""v w"", ? AS u");
   end Query_Names;

   package Caller is new AUnit.Test_Caller (Fixture);

   function Suite return AUnit.Test_Suites.Access_Test_Suite is
      Result : constant AUnit.Test_Suites.Access_Test_Suite := AUnit.Test_Suites.New_Suite;
   begin
      Result.Add_Test (Caller.Create ("MariaDB: a deadlock", Deadlock'Access));
      Result.Add_Test (Caller.Create ("MariaDB: parameters in texts", Parameters'Access));
      Result.Add_Test
        (Caller.Create ("MariaDB: without backslashes", Without_Backslashes'Access));
      Result.Add_Test (Caller.Create ("MariaDB: unsigned numbers", Unsigned'Access));
      Result.Add_Test (Caller.Create ("MariaDB: procedures", Procedures'Access));
      Result.Add_Test (Caller.Create ("MariaDB: errors after results", Late_Errors'Access));
      Result.Add_Test (Caller.Create ("MariaDB: a changed SQL mode", Changed_Mode'Access));
      Result.Add_Test (Caller.Create ("MariaDB: a statement time limit", Time_Limit'Access));
      Result.Add_Test (Caller.Create ("MariaDB: a server that does not respond", Silent'Access));
      Result.Add_Test
        (Caller.Create ("MariaDB: a server that responds too late", Responds_Too_Late'Access));
      Result.Add_Test
        (Caller.Create ("MariaDB: a reset without a database", Reset_Without_Database'Access));
      Result.Add_Test (Caller.Create ("MariaDB: killed while idle", Killed_While_Idle'Access));
      Result.Add_Test (Caller.Create ("MariaDB: TLS", With_TLS'Access));
      Result.Add_Test (Caller.Create ("MariaDB: malformed targets", Targets'Access));
      Result.Add_Test (Caller.Create ("MariaDB: batch: values", Batch_Values'Access));
      Result.Add_Test (Caller.Create ("MariaDB: batch: one statement", Batch_Ends'Access));
      Result.Add_Test (Caller.Create ("MariaDB: names of queries", Query_Names'Access));
      return Result;
   end Suite;

end MariaDB_Tests;
