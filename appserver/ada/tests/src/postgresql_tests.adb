--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

with Ada.Calendar;
with Ada.Environment_Variables;
with Ada.Real_Time;
with Ada.Strings.Fixed;
with Ada.Text_IO;
with Appserver.SQL.Batches;
with Appserver.SQL.PostgreSQL;
with AUnit.Assertions;
with AUnit.Test_Caller;
with AUnit.Test_Fixtures;
with Checks;
with GNAT.Sockets;
with Received_Notices;
with Silent_Resolvers;
with Tested_Databases;

package body PostgreSQL_Tests is

   use Appserver.SQL;
   use AUnit.Assertions;
   use Checks;
   use type Ada.Calendar.Time;
   use type SQL.Blob;
   use type SQL.Integer_64;

   type Fixture is new AUnit.Test_Fixtures.Test_Fixture with record
      DB    : aliased PostgreSQL.Connection;
      Query : PostgreSQL.Statement;
   end record;

   overriding procedure Set_Up (T : in out Fixture);
   overriding procedure Tear_Down (T : in out Fixture);

   overriding procedure Set_Up (T : in out Fixture) is
   begin
      Tested_Databases.PostgreSQL_Database.Open (T.DB);
   end Set_Up;

   overriding procedure Tear_Down (T : in out Fixture) is
   begin
      T.DB.Close;
   end Tear_Down;

   --  The server rolls back instead of committing a failed transaction: this must not look
   --  successful

   procedure Failed_Work (T : in out Fixture) is
      Work : Transaction (T.DB'Access);

      procedure Fail is
      begin
         T.DB.Execute ("SELECT * FROM nowhere");
      end Fail;

      procedure Commit is
      begin
         Work.Commit;
      end Commit;
   begin
      T.DB.Execute ("CREATE TABLE t (x integer)");
      Is_Refused (Fail'Access, "42P01");
      Is_Refused (Commit'Access, "25P02");
      Assert (Work.Is_Pending, "the transaction is still pending");
      Work.Roll_Back;
      Is_Refused (Fail'Access, "42P01");
      Assert (T.DB.In_Autocommit, "over");
   end Failed_Work;

   --  BEGIN is sent with the first statement: even if that fails, the transaction has begun

   procedure First_Statement (T : in out Fixture) is

      procedure Fail is
      begin
         T.DB.Execute ("SELECT * FROM nowhere");
      end Fail;

      procedure Select_One is
      begin
         T.DB.Execute ("SELECT 1");
      end Select_One;
   begin
      declare
         Work : Transaction (T.DB'Access);
      begin
         Is_Refused (Fail'Access, "42P01");
         Is_Refused (Select_One'Access, "25P02");
         Assert (Work.Is_Pending and then not T.DB.In_Autocommit, "open");
      end;
      Select_One;
      declare
         Work : Transaction (T.DB'Access);
      begin
         Work.Commit;
      end;
      Assert (T.DB.In_Autocommit, "a transaction without statements does not begin");
   end First_Statement;

   --  Other first operations of a transaction: a savepoint, a batch, a load, a stream, a limit, and
   --  statements that were prepared before

   procedure First_Of_Another_Kind (T : in out Fixture) is

      procedure Begins_With
        (Name : String; First : not null access procedure; Expected : String)
      is
         Work : Transaction (T.DB'Access);
      begin
         First.all;
         Assert (not T.DB.In_Autocommit, Name & ": the transaction has begun");
         Answers (T.DB, "SELECT count(*) FROM t", Expected);
         Work.Roll_Back;
         Assert (T.DB.In_Autocommit, Name & ": the transaction has ended");
         Answers (T.DB, "SELECT count(*) FROM t", "2");
         Answers (T.DB, "SHOW statement_timeout", "0");
      end Begins_With;

      procedure Fail_In_Savepoint is
         Part : Savepoint (T.DB'Access);

         procedure Fail is
         begin
            T.DB.Execute ("INSERT INTO t VALUES (1)");
         end Fail;
      begin
         Is_Refused (Fail'Access, "23505");
         Part.Roll_Back;
         T.DB.Execute ("INSERT INTO t VALUES (3)");
      end Fail_In_Savepoint;

      procedure Insert_Many is
         Counts : Count_List (1 .. 1_234);

         procedure Bind (To : in out SQL.Statement'Class; Element : Positive) is
         begin
            To.Bind (1, SQL.Integer_64 (Element + 2));
         end Bind;
      begin
         Batches.Execute (T.Query, Bind'Access, Counts);
      end Insert_Many;

      procedure Load is
         Row  : Natural := 2;
         Rows : SQL.Integer_64;

         function Next (To : in out SQL.Statement'Class) return Boolean is
         begin
            Row := Row + 1;
            To.Bind (1, SQL.Integer_64 (Row));
            return Row <= 1_000;
         end Next;
      begin
         Batches.Load (T.DB, "t", "x", Next'Access, Rows);
      end Load;

      procedure Stream is
         Rows : Natural := 0;
      begin
         T.Query.Prepare_Client_Side
           (T.DB, "INSERT INTO t SELECT generate_series(3, 9) RETURNING x");
         T.Query.Set_Streamed;
         while T.Query.Step loop
            Rows := Rows + 1;
         end loop;
         Assert (Rows = 7, "rows:" & Rows'Image);
      end Stream;

      procedure Limit is
      begin
         T.DB.Set_Statement_Limit (30.0);
         Answers (T.DB, "SHOW statement_timeout", "30s");
      end Limit;

      procedure Insert_Returning is
      begin
         T.Query.Bind (1, SQL.Integer_64 (17));
         Assert (T.Query.Step and then T.Query.As_Integer_64 (1) = 17, "the row");
         Assert (not T.Query.Step, "there is only one row");
      end Insert_Returning;
   begin
      T.DB.Execute ("CREATE TABLE t (x integer UNIQUE)");
      T.DB.Execute ("INSERT INTO t VALUES (1), (2)");
      Begins_With ("a savepoint", Fail_In_Savepoint'Access, "3");
      T.Query.Prepare (T.DB, "INSERT INTO t VALUES (?)");
      Begins_With ("a batch", Insert_Many'Access, "1236");
      Begins_With ("a load", Load'Access, "1000");
      Begins_With ("a stream", Stream'Access, "9");
      Begins_With ("a limit", Limit'Access, "2");
      T.Query.Prepare (T.DB, "INSERT INTO t VALUES (?) RETURNING x");
      Begins_With ("a prepared statement", Insert_Returning'Access, "3");
   end First_Of_Another_Kind;

   --  A statement whose columns have changed is prepared again if nothing else was done: outside of
   --  a transaction, and at the beginning of a transaction. After another statement, a new
   --  transaction is necessary.

   procedure Stale_Plans (T : in out Fixture) is

      procedure Read (Expected : Positive) is
      begin
         Assert (T.Query.Step, "a row");
         Assert (T.Query.Column_Count = Expected, "columns" & T.Query.Column_Count'Image);
         Assert (T.Query.As_Integer_64 (1) = 7, "the parameter is still bound");
         T.Query.Reset;
      end Read;

      procedure Run is
      begin
         T.Query.Execute;
      end Run;

   begin
      T.DB.Execute ("CREATE TABLE t (x integer)");
      T.DB.Execute ("INSERT INTO t VALUES (7)");
      T.Query.Prepare (T.DB, "SELECT * FROM t WHERE x = ?");
      T.Query.Bind (1, SQL.Integer_64'(7));
      Read (1);
      T.DB.Execute ("ALTER TABLE t ADD y text DEFAULT 'y'");
      Read (2);
      T.DB.Execute ("ALTER TABLE t ADD z numeric DEFAULT 1.5");
      declare
         Work : Transaction (T.DB'Access);
      begin
         Read (3);
         Assert (not T.DB.In_Autocommit, "the transaction has begun");
         Work.Commit;
      end;
      T.DB.Execute ("ALTER TABLE t ADD a boolean");
      declare
         Work : Transaction (T.DB'Access);
      begin
         T.DB.Execute ("UPDATE t SET y = 'changed'");
         Is_Refused (Run'Access, "26000", "cached plan");
         Work.Roll_Back;
      end;
      T.DB.Execute ("DEALLOCATE ALL");
      Read (4);
      T.DB.Execute ("ALTER TABLE t ADD b integer");
      declare
         Work : Transaction (T.DB'Access);
      begin
         T.DB.Execute ("SELECT 1");
         Run;
         Assert (False, "the statement was prepared again within a transaction");
         Work.Commit;
      exception
         when Occurrence : SQL_Error =>
            Assert (Error_Of (Occurrence).Kind = Stale_Statement, "the kind of the error");
            Assert (Is_Retryable (Error_Of (Occurrence)), "a new transaction can succeed");
      end;
      Read (5);
      Answers (T.DB, "SELECT y FROM t", "y");
   end Stale_Plans;

   --  libpq returns the same result of a COPY repeatedly, and accepts no command after a COPY in
   --  pipeline mode

   procedure Copy_First (T : in out Fixture) is

      procedure Is_Refused_First (Text : String) is
         Work   : Transaction (T.DB'Access);
         Counts : Count_List (1 .. 3);

         procedure Execute is
         begin
            T.DB.Execute (Text);
         end Execute;

         procedure Step is
         begin
            Assert (not T.Query.Step, "a row");
         end Step;

         procedure Execute_Each is

            procedure Bind (To : in out SQL.Statement'Class; Element : Positive) is null;
         begin
            Batches.Execute (T.Query, Bind'Access, Counts);
         end Execute_Each;
      begin
         Is_Refused (Execute'Access, "0A000", "COPY");
         Assert (not T.DB.In_Autocommit, "the transaction has begun: " & Text);
         Work.Roll_Back;
         T.Query.Prepare_Client_Side (T.DB, Text);
         Is_Refused (Execute_Each'Access, "0A000", "COPY");
         T.Query.Prepare (T.DB, Text);
         Is_Refused (Execute_Each'Access, "0A000", "COPY");
         T.Query.Set_Streamed;
         Is_Refused (Step'Access, "0A000", "COPY");
         Answers (T.DB, "SELECT count(*) FROM t", "2");
      end Is_Refused_First;
   begin
      T.DB.Execute ("CREATE TABLE t (x integer)");
      T.DB.Execute ("INSERT INTO t VALUES (1), (2)");
      Is_Refused_First ("COPY t TO STDOUT");
      Is_Refused_First ("COPY t FROM STDIN");
      Is_Refused_First
        ("-- rows" & ASCII.LF & " ; /* of /* t */ -- */" & ASCII.HT & "copy t FROM STDIN");
      Is_Refused_First ("/**/copy/**/t TO STDOUT");
      T.DB.Execute ("CREATE TABLE copy_of_t AS SELECT * FROM t");
      T.DB.Execute ("DROP TABLE copy_of_t");
   end Copy_First;

   procedure Parameters (T : in out Fixture) is
      procedure Has (Text : String; Count : Natural) is
      begin
         T.Query.Prepare_Client_Side (T.DB, Text);
         Assert (T.Query.Parameter_Count = Count, Text & T.Query.Parameter_Count'Image);
      end Has;
   begin
      Has ("SELECT 1", 0);
      Has ("SELECT $1, $2, $1", 2);
      Has ("SELECT '$1', ""$2"", 'it''s $3'", 0);
      Has ("SELECT E'\'$1', $2", 2);
      Has ("SELECT $$ $1 $$, $tag$ $2 $$ $tag$, $3", 3);
      Has ("SELECT $1 -- $2" & ASCII.LF & ", $3", 3);
      Has ("SELECT /* $1 /* $2 */ $3 */ 1", 0);
      Has ("SELECT a$1, b-$2 FROM t", 2);
      Has ("SELECT 'open $1", 0);
      Has ("SELECT /* open $1", 0);
      Has ("SELECT $", 0);
      Has ("", 0);
      Has ("SELECT ?, ?, '?', ""?"", $$?$$, E'\'?' -- ?" & ASCII.LF & ", /* ? */ ?", 3);
      Has ("SELECT $1, data ? 'key', data ?? 'key'", 1);
      Has ("SELECT data ?? 'key', data ??| ?", 1);
      Has ("SELECT data ?? 'key'", 0);
      Has ("SELECT E'a''b\'?'", 0);
      Has ("SELECT E'a''b\'?', ?, ?", 2);
      Has ("SELECT E'a''b\'$7', $2", 2);
      Has ("SELECT 'a''b\', ?, '?'", 1);
      Has ("SELECT E'a'" & ASCII.LF & " 'b\'?', ?, ?", 2);
      Has ("SELECT E'a' -- '" & ASCII.CR & ASCII.LF & ASCII.HT & "'b\'?', ?, ?", 2);
      Has ("SELECT E'a', 'b\', ?, '?'", 1);
      Has ("SELECT 1 -- ?" & ASCII.CR & ", ?", 1);
   end Parameters;

   --  The text of a string reaches the server unchanged

   procedure Escaped_Strings (T : in out Fixture) is
      procedure Is_Text (Literal, Value : String) is
      begin
         T.Query.Prepare (T.DB, "SELECT " & Literal & ", ?::text");
         T.Query.Bind (1, "bound");
         Assert (T.Query.Step, "a row");
         Assert (T.Query.As_Text (1), Value, Literal);
         Assert (T.Query.As_Text (2), "bound", Literal);
         Answers (T.DB, "SELECT " & Literal, Value);
      end Is_Text;
   begin
      Is_Text ("E'it''s \'?\' or not'", "it's '?' or not");
      Is_Text ("E'it''s \'$1\''", "it's '$1'");
      Is_Text ("E'it'" & ASCII.LF & " 's \'?\''", "its '?'");
      Is_Text ("'\' || '?'", "\?");
      T.DB.Execute ("SET standard_conforming_strings = off");
      Is_Text ("'it\'s ?'", "it's ?");
   end Escaped_Strings;

   --  Operators that begin with a question mark

   procedure Question_Marks (T : in out Fixture) is
      procedure Is_True (Text : String; Keys : String) is
      begin
         T.Query.Prepare (T.DB, Text);
         T.Query.Bind (1, Keys);
         Assert (T.Query.Step and then T.Query.As_Text (1) = "t", Text);
         T.Query.Prepare_Client_Side (T.DB, Text);
         T.Query.Bind (1, Keys);
         Assert (T.Query.Step and then T.Query.As_Text (1) = "t", Text & " as text");
      end Is_True;
   begin
      Is_True ("SELECT '{""a"": 1}'::jsonb ?? ?", "a");
      Is_True ("SELECT '{""a"": 1}'::jsonb ? $1", "a");
      Is_True ("SELECT '{""a"": 1}'::jsonb ??| ?::text[]", "{a,b}");
      Answers (T.DB, "SELECT '{""a"": 1}'::jsonb ?? 'a'", "t");
      T.Query.Prepare
        (T.DB, "SELECT ?::int, ?::int, ?::int, ?::int, ?::int, ?::int, ?::int, ?::int, ?::int,"
         & " ?::int, ?::int");
      for Number in 1 .. 11 loop
         T.Query.Bind (Number, SQL.Integer_64 (10 * Number));
      end loop;
      Assert (T.Query.Step, "a row");
      for Number in 1 .. 11 loop
         Assert
           (T.Query.As_Integer_64 (Number) = SQL.Integer_64 (10 * Number),
"the values are in order");
      end loop;
   end Question_Marks;

   procedure Refused_Texts (T : in out Fixture) is
      procedure Bind_NUL is
      begin
         T.Query.Bind (1, "before" & ASCII.NUL & "after");
      end Bind_NUL;

      procedure Copy is
      begin
         T.DB.Execute ("COPY t TO STDOUT");
      end Copy;

      procedure Copy_In is
      begin
         T.DB.Execute ("COPY t FROM STDIN");
      end Copy_In;
   begin
      T.Query.Prepare (T.DB, "SELECT $1");
      Is_Refused (Bind_NUL'Access, "22021", "parameter 1");
      T.DB.Execute ("CREATE TABLE t (x integer)");
      T.DB.Execute ("INSERT INTO t VALUES (1), (2)");
      Is_Refused (Copy'Access, "0A000", "COPY");
      Is_Refused (Copy_In'Access, "0A000", "COPY");
      Answers (T.DB, "SELECT count(*) FROM t", "2");
   end Refused_Texts;

   procedure Types (T : in out Fixture) is
      procedure Reads (Expression, Text : String) is
      begin
         Answers (T.DB, "SELECT " & Expression, Text);
         T.Query.Prepare (T.DB, "SELECT " & Expression);
         Assert (T.Query.Step, "a row");
         Assert (T.Query.As_Text (1), Text, Expression);
      end Reads;
   begin
      Reads ("true", "t");
      Reads ("'\x00ff'::bytea", "\x00ff");
      Reads ("date '2026-11-21'", "2026-11-21");
      Reads ("'{1,2}'::integer[]", "{1,2}");
      Reads ("'{""a"": 1}'::jsonb", "{""a"": 1}");
      Reads ("(-32768)::smallint", "-32768");
      Reads ("(-2147483648)::integer", "-2147483648");
      Reads ("9223372036854775807::bigint", "9223372036854775807");
      Reads ("''", "");
      T.DB.Execute ("SET bytea_output = 'escape'");
      T.Query.Prepare_Client_Side (T.DB, "SELECT '\x005c41ff'::bytea");
      Assert (T.Query.Step and then T.Query.As_Blob (1) = [0, 16#5C#, 16#41#, 16#FF#], "escaped");
      T.Query.Prepare (T.DB, "SELECT 'infinity'::timestamp");
      Assert
        (T.Query.Step and then T.Query.As_Text (1) = "infinity", "infinity is readable as text");
   end Types;

   --  A failure after the first rows of a stream

   procedure Late_Error (T : in out Fixture) is
      Rows : Natural;

      procedure Read is
      begin
         Rows := 0;
         while T.Query.Step loop
            Rows := Rows + 1;
         end loop;
      end Read;

      procedure Execute is
      begin
         T.Query.Execute;
      end Execute;
   begin
      T.Query.Prepare (T.DB, "SELECT 100 / (5000 - i) FROM generate_series(1, 9000) AS i");
      T.Query.Set_Streamed;
      for Time in 1 .. 2 loop
         Is_Refused (Read'Access, "22012");
         Assert (Rows = 4_999 and then not T.Query.Has_Row, "rows before the error:" & Rows'Image);
         Is_Refused (Execute'Access, "22012");
         Answers (T.DB, "SELECT 1", "1");
      end loop;
   end Late_Error;

   procedure Time_Limit (T : in out Fixture) is
      procedure Wait is
      begin
         T.DB.Execute ("SELECT pg_sleep(300)");
      end Wait;
   begin
      T.DB.Set_Statement_Limit (1.0);
      Answers (T.DB, "SHOW statement_timeout", "1s");
      Is_Refused (Wait'Access, "57014");
      T.DB.Set_Statement_Limit (0.0);
      Answers (T.DB, "SHOW statement_timeout", "0");
      T.DB.Set_Statement_Limit (0.000_4);
      Is_Refused (Wait'Access, "57014");
   end Time_Limit;

   --  Notices are passed to the program or discarded, but not written to standard error

   procedure Notices (T : in out Fixture) is

      procedure Are_Received (Text, State, Message : String) is
      begin
         Received_Notices.Clear;
         T.DB.Set_Notice_Handler (Received_Notices.Receive'Access);
         T.DB.Execute (Text);
         Assert (Received_Notices.Count = 1, Received_Notices.Count'Image & " notices");
         Assert (Received_Notices.Latest, State & " " & Message, Text);
      end Are_Received;
   begin
      T.DB.Execute ("SET client_min_messages = notice");
      Are_Received
        ("DROP TABLE IF EXISTS nowhere", "00000", "table ""nowhere"" does not exist, skipping");
      Are_Received
        ("DO $$ BEGIN RAISE WARNING 'raise an exception'; END $$", "01000", "raise an exception");
      Answers (T.DB, "SELECT 1", "1");
      T.DB.Set_Notice_Handler (null);
      T.DB.Execute ("DROP TABLE IF EXISTS nowhere");
      Assert (Received_Notices.Count = 1, "notices are discarded without a handler");
   end Notices;

   --  An unresponsive host does not use up the time of the next host

   procedure Several_Hosts (T : in out Fixture) is
      use Ada.Strings.Fixed;
      use GNAT.Sockets;

      Target   : constant String :=
        Ada.Environment_Variables.Value (Tested_Databases.PostgreSQL_Variable);
      Place    : constant Positive := Index (Target, "@") + 1;
      Path     : constant Positive := Index (Target, "/", From => Place);
      Server   : constant String   := Target (Place .. Path - 1);
      Listener : Socket_Type;
      DB       : PostgreSQL.Connection;

      function Silent return String is
        ("127.0.0.1:" & Trim (Get_Socket_Name (Listener).Port'Image, Ada.Strings.Left));

      function At_Hosts (Hosts : String) return String is
        (Target (Target'First .. Place - 1) & Hosts & Target (Path .. Target'Last));

      procedure Open_Silent is
      begin
         DB.Open (At_Hosts (Silent & "," & Silent), Connect_Timeout => 1.0);
      end Open_Silent;

      procedure Be_A_Stranger is
      begin
         DB.Open
           ("postgresql://stranger:wrong@" & Server & "," & Silent & Target (Path .. Target'Last),
            Connect_Timeout => 60.0);
      end Be_A_Stranger;

      procedure Open_At (Hosts : String) is
      begin
         DB.Open (At_Hosts (Hosts), Connect_Timeout => 20.0);
         Answers (DB, "SELECT 1", "1");
         DB.Close;
      end Open_At;

      Start : Ada.Calendar.Time;
   begin
      T.DB.Close;
      Create_Socket (Listener);
      Bind_Socket (Listener, (Family_Inet, Loopback_Inet_Addr, Any_Port));
      Listen_Socket (Listener);
      Open_At (Silent & "," & Server);
      Open_At (Server & "," & Silent);
      Open_At ("127.0.0.1:1," & Silent & "," & Server);
      Open_At ("nowhere.invalid:1," & Server);
      Start := Ada.Calendar.Clock;
      Is_Refused (Open_Silent'Access, "08001", "in time");
      Is_Refused (Be_A_Stranger'Access, "28P01");
      Assert (Ada.Calendar.Clock - Start < Long_Time, "Open fails in time");
      Close_Socket (Listener);
   end Several_Hosts;

   --  The hosts of a service also get their fraction of the time, which includes name resolution

   procedure Service (T : in out Fixture) is
      use Ada.Environment_Variables;
      use Ada.Strings.Fixed;

      Services : constant String := "PGSERVICEFILE";
      Path     : constant String := File_Name ("pg_service.conf");
      Target   : constant String := Value (Tested_Databases.PostgreSQL_Variable);
      Place    : constant Positive := Index (Target, "@") + 1;
      Server   : constant String   := Target (Place .. Index (Target, "/", From => Place) - 1);
      Colon    : constant Positive := Index (Server, ":");
      Host     : constant String   := Server (Server'First .. Colon - 1);
      Port     : constant String   := Server (Colon + 1 .. Server'Last);
      Start    : Ada.Real_Time.Time;
      DB       : PostgreSQL.Connection;

      --  The target provides the options that the service does not contain

      procedure Open (Wait : Duration) is
      begin
         DB.Open
           (Target (Target'First .. Place - 1) & Target (Place + Server'Length .. Target'Last)
            & (if Index (Target, "?") = 0 then "?" else "&") & "service=shop",
            Wait);
      end Open;

      procedure Fail_To_Open is
      begin
         Open (0.5);
      end Fail_To_Open;

      procedure Write (Hosts, Ports : String) is
         use Ada.Text_IO;
         File : File_Type;
      begin
         Create (File, Out_File, Path);
         Put_Line (File, "[shop]");
         Put_Line (File, "host=" & Hosts);
         Put_Line (File, "port=" & Ports);
         Close (File);
      end Write;

      procedure Opens (Hosts, Ports : String) is
      begin
         Write (Hosts, Ports);
         Open (20.0);
         Answers (DB, "SELECT 1", "1");
         DB.Close;
      end Opens;
   begin
      T.DB.Close;
      Set (Services, Path);
      begin
         Opens (Host, Port);
         Opens (Silent_Resolvers.Silent_Host & "," & Host, Port);
         Opens ("nowhere.invalid," & Host, "1," & Port);
         Write (Silent_Resolvers.Silent_Host, Port);
         Start := Ada.Real_Time.Clock;
         Is_Refused (Fail_To_Open'Access, "08001", "not resolved in time");
         Assert (Since (Start) < Long_Time, "Open fails in time");
         Write (Host & "," & Host, Port & "," & Port & "," & Port);
         Is_Refused (Fail_To_Open'Access, "08001");
         Set (Services, Path & ".none");
         Is_Refused (Fail_To_Open'Access, "08001", "not found");
      exception
         when others =>
            Clear (Services);
            raise;
      end;
      Clear (Services);
   end Service;

   procedure Parts_Of_An_Error (T : in out Fixture) is
   begin
      T.DB.Execute ("CREATE TABLE t (x integer CONSTRAINT single UNIQUE)");
      T.DB.Execute ("INSERT INTO t VALUES (7)");
      T.DB.Execute ("INSERT INTO t VALUES (7)");
      Assert (False, "a duplicate was inserted");
   exception
      when Occurrence : SQL_Error =>
         declare
            Error : constant Error_Record := Error_Of (Occurrence);
         begin
            Assert (Error.Origin = From_PostgreSQL, Error.Origin'Image);
            Assert (Error.State, "23505", "state");
            Assert (Error.Code = 0, "code");
            Assert (Error.Constraint, "single", "constraint");
            Assert (Error.Detail, "Key (x)=(7) already exists.", "detail");
         end;
   end Parts_Of_An_Error;

   package Caller is new AUnit.Test_Caller (Fixture);

   function Suite return AUnit.Test_Suites.Access_Test_Suite is
      Result : constant AUnit.Test_Suites.Access_Test_Suite := AUnit.Test_Suites.New_Suite;
   begin
      Result.Add_Test (Caller.Create ("PostgreSQL: failed work", Failed_Work'Access));
      Result.Add_Test (Caller.Create ("PostgreSQL: a first statement", First_Statement'Access));
      Result.Add_Test
        (Caller.Create
           ("PostgreSQL: other first operations", First_Of_Another_Kind'Access));
      Result.Add_Test (Caller.Create ("PostgreSQL: stale plans", Stale_Plans'Access));
      Result.Add_Test
        (Caller.Create ("PostgreSQL: COPY as the first statement", Copy_First'Access));
      Result.Add_Test (Caller.Create ("PostgreSQL: parameters in texts", Parameters'Access));
      Result.Add_Test
        (Caller.Create ("PostgreSQL: strings with escapes", Escaped_Strings'Access));
      Result.Add_Test (Caller.Create ("PostgreSQL: question marks", Question_Marks'Access));
      Result.Add_Test (Caller.Create ("PostgreSQL: texts that it rejects", Refused_Texts'Access));
      Result.Add_Test (Caller.Create ("PostgreSQL: an error in a stream", Late_Error'Access));
      Result.Add_Test (Caller.Create ("PostgreSQL: a statement time limit", Time_Limit'Access));
      Result.Add_Test (Caller.Create ("PostgreSQL: notices", Notices'Access));
      Result.Add_Test (Caller.Create ("PostgreSQL: multiple hosts", Several_Hosts'Access));
      Result.Add_Test (Caller.Create ("PostgreSQL: a service file", Service'Access));
      Result.Add_Test (Caller.Create ("PostgreSQL: parts of an error", Parts_Of_An_Error'Access));
      Result.Add_Test (Caller.Create ("PostgreSQL: types of PostgreSQL", Types'Access));
      return Result;
   end Suite;

end PostgreSQL_Tests;
