--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

with Ada.Real_Time;
with Appserver.Retry.Transactions;
with Appserver.SQL.Held_Cancels;
with Appserver.SQL.Injected_Errors;
with Appserver.SQL.Pools;
with AUnit.Assertions;
with AUnit.Test_Caller;
with AUnit.Test_Fixtures;
with Checks;
with Silent_Proxies;

package body SQL_Pool_Tests is

   use AUnit.Assertions;
   use Checks;
   use Database;
   use type SQL.Integer_64;

   --  SQLite connections wait for each other for longer than any test takes

   procedure Open_One (DB : in out Connection) is
   begin
      Connect (DB);
      if Dialect.Name.all = "SQLite" then
         DB.Execute ("PRAGMA busy_timeout = 300000");
      end if;
   end Open_One;

   procedure Prepare_On
     (Self : in out Statement; On : in out Connection'Class; Text : SQL.UTF_8_String) is
   begin
      Prepare (Self, Connection (On), Text);
   end Prepare_On;

   package Pools is new Appserver.SQL.Pools
     (Connection, Statement, Open_One, Prepare_On, Max_Statements => 3, Validate_After => 3_600.0);

   package Asking is new Appserver.SQL.Pools
     (Connection, Statement, Open_One, Prepare_On, Validate_After => 0.0);

   package Short_Lived is new Appserver.SQL.Pools
     (Connection, Statement, Open_One, Prepare_On);

   type Fixture is new AUnit.Test_Fixtures.Test_Fixture with record
      DB : Connection;
      --  Another connection, to check the effects
   end record;

   overriding procedure Set_Up (T : in out Fixture);
   overriding procedure Tear_Down (T : in out Fixture);

   overriding procedure Set_Up (T : in out Fixture) is
   begin
      Open (T.DB);
      T.DB.Execute ("CREATE TABLE t (id integer PRIMARY KEY, x integer)");
      T.DB.Execute ("INSERT INTO t VALUES (1, 10), (2, 20)");
   end Set_Up;

   overriding procedure Tear_Down (T : in out Fixture) is
   begin
      T.DB.Close;
   end Tear_Down;

   Select_X : constant String := "SELECT x FROM t WHERE id = ?";

   procedure Reads (Held : Pools.Lease; Id, X : SQL.Integer_64) is
      Query : constant Pools.Prepared_Statement := Held.Prepared (Select_X);
   begin
      Query.Bind (1, Id);
      Assert (Query.Step, "a row");
      Assert (Query.As_Integer_64 (1) = X, "the value in the row");
   end Reads;

   function Number (DB : in out Connection; Query : String) return SQL.Integer_64 is
      Cursor : Statement;
   begin
      Prepare_Client_Side (Cursor, DB, Query);
      Assert (Cursor.Step, "a row of: " & Query);
      return Cursor.As_Integer_64 (1);
   end Number;

   --  Unread rows are discarded, and a repeated text gets the same statement

   procedure Keeps_Statements (T : in out Fixture) is
      pragma Unreferenced (T);
      Pool : aliased Pools.Pool (1);
   begin
      for Lease in 1 .. 3 loop
         declare
            Held : Pools.Lease (Pool'Access);
         begin
            Held.Get;
            for Time in 1 .. 3 loop
               Reads (Held, 1, 10);
               Reads (Held, 2, 20);
            end loop;
            Assert (Held.Statement_Count = 1, "one statement is cached");
            Held.DB.Execute ("UPDATE t SET x = x");
         end;
      end loop;
      Assert (Pool.Statistics.Open = 1, "one connection is open");
   end Keeps_Statements;

   --  Values that one lease has bound are not visible to the next lease

   procedure Unbound (T : in out Fixture) is
      pragma Unreferenced (T);
      Pool : aliased Pools.Pool (1);
   begin
      for Time in 1 .. 2 loop
         declare
            Held : Pools.Lease (Pool'Access);
         begin
            Held.Get;
            declare
               Query : constant Pools.Prepared_Statement := Held.Prepared ("SELECT ?, ?");
            begin
               Assert (Query.Step, "a row");
               Assert (Query.Is_Null (1) and then Query.Is_Null (2), "null");
               Query.Reset;
               Query.Bind (1, "secret");
               Query.Bind (2, "secret");
               Assert (Query.Step and then Query.As_Text (2) = "secret", "bound");
            end;
         end;
      end loop;
   end Unbound;

   --  If the cached statement of a text is in use, the text gets another statement

   procedure Nested (T : in out Fixture) is
      pragma Unreferenced (T);

      Pool : aliased Pools.Pool (1);
      Held : Pools.Lease (Pool'Access);
      All_Rows : constant String := "SELECT id, x FROM t ORDER BY id";
      Pairs    : Natural := 0;
   begin
      Held.Get;
      declare
         Outer : constant Pools.Prepared_Statement := Held.Prepared (All_Rows);
      begin
         while Outer.Step loop
            declare
               Inner : constant Pools.Prepared_Statement := Held.Prepared (All_Rows);
            begin
               while Inner.Step loop
                  Pairs := Pairs + 1;
                  Reads (Held, Inner.As_Integer_64 (1), Inner.As_Integer_64 (2));
               end loop;
            end;
         end loop;
      end;
      Assert (Pairs = 4, "all pairs were read:" & Pairs'Image);
      Assert (Held.Statement_Count = 2, "kept:" & Held.Statement_Count'Image);
   end Nested;

   --  The least recently used statement is replaced, unless it is in use

   procedure Bounded (T : in out Fixture) is
      pragma Unreferenced (T);

      Pool : aliased Pools.Pool (1);
      Held : Pools.Lease (Pool'Access);

      procedure Answers_Prepared (Value : Positive) is
         Query : constant Pools.Prepared_Statement := Held.Prepared ("SELECT" & Value'Image);
      begin
         Assert (Query.Step and then Query.As_Integer_64 (1) = SQL.Integer_64 (Value), "it");
      end Answers_Prepared;
   begin
      Held.Get;
      declare
         Oldest : constant Pools.Prepared_Statement := Held.Prepared (Select_X);
      begin
         for Round in 1 .. 2 loop
            for Value in 1 .. 40 loop
               Answers_Prepared (Value);
               Answers_Prepared (Value);
            end loop;
         end loop;
         Assert (Held.Statement_Count = 3, "kept:" & Held.Statement_Count'Image);
         Oldest.Bind (1, SQL.Integer_64'(2));
         Assert
           (Oldest.Step and then Oldest.As_Integer_64 (1) = 20,
            "a statement in use is not dropped");
         declare
            Second : constant Pools.Prepared_Statement := Held.Prepared ("SELECT 1");
            Third  : constant Pools.Prepared_Statement := Held.Prepared ("SELECT 2");
            Fourth : constant Pools.Prepared_Statement := Held.Prepared ("SELECT 3");
         begin
            Assert (Second.Step and then Third.Step and then Fourth.Step, "rows");
            Assert (Fourth.As_Integer_64 (1) = 3, "a statement that is not cached");
         end;
      end;
      Reads (Held, 1, 10);
   end Bounded;

   --  A text cannot be prepared at first, but can be prepared later

   procedure Refused (T : in out Fixture) is
      Pool : aliased Pools.Pool (1);
      Held : Pools.Lease (Pool'Access);

      procedure Read is
         Query : constant Pools.Prepared_Statement := Held.Prepared ("SELECT x FROM account");
      begin
         Assert (Query.Step and then Query.As_Integer_64 (1) = 7, "the value in the row");
      end Read;
   begin
      Held.Get;
      for Time in 1 .. 4 loop
         Is_Refused (Read'Access, Dialect.No_Table);
      end loop;
      Reads (Held, 1, 10);
      T.DB.Execute ("CREATE TABLE account (x integer)");
      T.DB.Execute ("INSERT INTO account VALUES (7)");
      Read;
   end Refused;

   --  A statement fails at most once after a schema change

   procedure Changed_Schema (T : in out Fixture) is
      Pool     : aliased Pools.Pool (1);
      Held     : Pools.Lease (Pool'Access);
      Failures : Natural := 0;

      function Columns return Natural is
         Query : constant Pools.Prepared_Statement := Held.Prepared ("SELECT * FROM t");
      begin
         Assert (Query.Step, "a row");
         return Query.Column_Count;
      exception
         when Error : SQL.SQL_Error =>
            Failures := Failures + 1;
            Assert (Failures = 1, SQL.Message_Of (Error) & SQL.Code_Of (Error)'Image);
            return 0;
      end Columns;
   begin
      Held.Get;
      Assert (Columns = 2, "before");
      T.DB.Execute ("ALTER TABLE t ADD COLUMN y integer");
      Assert (Columns in 0 | 3, "the columns right after the change");
      Assert (Columns = 3, "the columns of the next execution");
   end Changed_Schema;

   procedure Left_Open (T : in out Fixture) is
      Pool : aliased Pools.Pool (1);
   begin
      declare
         Held : Pools.Lease (Pool'Access);
      begin
         Held.Get;
         Held.DB.Execute ("BEGIN");
         Held.DB.Execute ("UPDATE t SET x = 0");
      end;
      Answers (T.DB, "SELECT sum(x) FROM t", "30");
      declare
         Held : Pools.Lease (Pool'Access);
      begin
         Held.Get;
         Assert (Held.DB.In_Autocommit, "no transaction is open");
         declare
            Work : SQL.Transaction (Held.DB.Element);
         begin
            Held.DB.Execute ("UPDATE t SET x = 1");
            Work.Commit;
         end;
      end;
      Answers (T.DB, "SELECT sum(x) FROM t", "2");
   end Left_Open;

   procedure Misused (T : in out Fixture) is
      pragma Unreferenced (T);

      Pool  : aliased Pools.Pool (1);
      Held  : Pools.Lease (Pool'Access);
      Other : Pools.Lease (Pool'Access);
   begin
      begin
         Held.DB.Execute ("SELECT 1");
         Assert (False, "a lease without Get had a connection");
      exception
         when Appserver.Misuse_Error => null;
      end;
      Held.Get;
      begin
         Other.Get (Timeout => 0.0);
         Assert (False, "there was a second connection");
      exception
         when Pools.Pool_Timeout => null;
      end;
      --  If a statement is in use when its lease ends, it is closed with its connection
      declare
         Query : constant Pools.Prepared_Statement := Held.Prepared ("SELECT 1");

         procedure Run is
         begin
            Assert (Query.Step, "unreachable");
         end Run;
      begin
         Held.Release;
         Is_Misuse (Run'Access, "statement is not open");
         Other.Get;
         Reads (Other, 1, 10);
      end;
      Reads (Other, 2, 20);
   end Misused;

   procedure Life_Is_Short (T : in out Fixture) is
      pragma Unreferenced (T);
      Pool : aliased Short_Lived.Pool (1);
   begin
      Pool.Configure (Short_Lived.Pool_Options'(Max_Lifetime => 0.0, others => <>));
      for Time in 1 .. 3 loop
         declare
            Held : Short_Lived.Lease (Pool'Access);
         begin
            Held.Get;
            Assert (Held.Statement_Count = 0, "a new connection has no statements");
            declare
               Query : constant Short_Lived.Prepared_Statement := Held.Prepared (Select_X);
            begin
               Assert (not Query.Step, "no row");
            end;
         end;
      end loop;
   end Life_Is_Short;

   procedure By_Tasks (T : in out Fixture) is
      Pool : aliased Pools.Pool (3);
   begin
      declare
         task type Worker;

         task body Worker is
         begin
            for Turn in 1 .. 25 loop
               declare
                  Held : Pools.Lease (Pool'Access);
               begin
                  Held.Get;
                  declare
                     Change : constant Pools.Prepared_Statement :=
                       Held.Prepared ("UPDATE t SET x = x + ? WHERE id = ?");
                  begin
                     Change.Bind (1, SQL.Integer_64'(1));
                     Change.Bind (2, SQL.Integer_64 (1 + Turn mod 2));
                     Change.Execute;
                     Assert (Held.DB.Rows_Affected = 1, "one row");
                  end;
               end;
            end loop;
         end Worker;

         Workers : array (1 .. 8) of Worker;
         pragma Unreferenced (Workers);
      begin
         null;
      end;
      Assert (Pool.Statistics.Open in 1 .. 3, "connections:" & Pool.Statistics.Open'Image);
      Answers (T.DB, "SELECT sum(x) FROM t", "230");
   end By_Tasks;

   --  A retry closes the connection and opens it again, although it has cached statements

   procedure Retried (T : in out Fixture) is
      package Retries is new Appserver.Retry.Transactions (Connection, Open_One);

      Pool : aliased Pools.Pool (1);
      Held : Pools.Lease (Pool'Access);
      Runs : Natural := 0;
      By   : Appserver.Retry.Policy;

      procedure Change (DB : in out Connection) is
         Query : constant Pools.Prepared_Statement :=
           Held.Prepared ("UPDATE t SET x = x + 1 WHERE id = 1");
      begin
         Assert (not DB.In_Autocommit, "the transaction is open");
         Query.Execute;
         Runs := Runs + 1;
         if Runs = 1 then
            SQL.Injected_Errors.Fail ("40001");
         end if;
      end Change;
   begin
      Held.Get;
      Retries.Run (By, Held.DB, Change'Access);
      Assert (Runs = 2, "runs");
      Answers (T.DB, "SELECT x FROM t WHERE id = 1", "11");
      Reads (Held, 1, 11);
   end Retried;

   -------------
   -- Servers --
   -------------

   procedure On_The_Server (T : in out Fixture) is
      pragma Unreferenced (T);

      Pool   : aliased Pools.Pool (1);
      Held   : Pools.Lease (Pool'Access);
      Before : SQL.Integer_64;
   begin
      Held.Get;
      Before := Number (Held.DB, Dialect.Prepared.all);
      for Time in 1 .. 3 loop
         Reads (Held, 1, 10);
         Assert
           (Number (Held.DB, Dialect.Prepared.all) = Before + 1, "the statement is prepared once");
      end loop;
      for Value in 1 .. 10 loop
         declare
            Query : constant Pools.Prepared_Statement := Held.Prepared ("SELECT" & Value'Image);
         begin
            Assert (Query.Step, "a row");
         end;
      end loop;
      Assert
        (Number (Held.DB, Dialect.Prepared.all) = Before + 3,
         "the server has as many statements as are cached");
   end On_The_Server;

   procedure End_Session (T : in out Fixture; Id : SQL.Integer_64) is
   begin
      T.DB.Execute (Dialect.Kill.all & Id'Image & Dialect.After_Kill.all);
      for Time in 1 .. 6_000 loop
         exit when Number (T.DB, Dialect.Sessions.all) = 1;
         delay 0.01;
      end loop;
   end End_Session;

   procedure Be_Alone (T : in out Fixture) is
   begin
      for Time in 1 .. 6_000 loop
         exit when Number (T.DB, Dialect.Sessions.all) = 1;
         delay 0.01;
      end loop;
      Assert (Number (T.DB, Dialect.Sessions.all) = 1, "alone");
   end Be_Alone;

   --  A lost connection is not leased again

   procedure Lost (T : in out Fixture) is
      Pool : aliased Pools.Pool (1);
      Id   : SQL.Integer_64;
   begin
      Be_Alone (T);
      declare
         Held : Pools.Lease (Pool'Access);

         procedure Read is
         begin
            Reads (Held, 1, 10);
         end Read;
      begin
         Held.Get;
         Reads (Held, 1, 10);
         Id := Number (Held.DB, Dialect.Id.all);
         End_Session (T, Id);
         begin
            Read;
            Assert (False, "the server responded");
         exception
            when Error : SQL.SQL_Error =>
               Assert (SQL.Error_Of (Error).Is_Connection_Failure, SQL.Message_Of (Error));
         end;
         Assert (not Held.DB.Is_Connected, "the connection is known to be lost");
      end;
      declare
         Held : Pools.Lease (Pool'Access);
      begin
         Held.Get;
         Assert (Number (Held.DB, Dialect.Id.all) /= Id, "the lease has another session");
         Reads (Held, 2, 20);
      end;
   end Lost;

   --  A connection that was lost while idle is validated, and opened again

   procedure Lost_While_Idle (T : in out Fixture) is
      Pool : aliased Asking.Pool (1);
      Id   : SQL.Integer_64;
   begin
      Be_Alone (T);
      declare
         Held : Asking.Lease (Pool'Access);
      begin
         Held.Get;
         Id := Number (Held.DB, Dialect.Id.all);
      end;
      End_Session (T, Id);
      declare
         Held : Asking.Lease (Pool'Access);
      begin
         Held.Get;
         Assert (Number (Held.DB, Dialect.Id.all) /= Id, "the lease has another session");
      end;
   end Lost_While_Idle;

   --  An unresponsive server, with short timeouts

   package Hasty is new Appserver.SQL.Pools
     (Connection, Statement, Open_One, Prepare_On, Validate_After => 0.0,
      Validation_Timeout => 0.5);

   --  The validation of an idle connection ends early enough to open another connection

   procedure Silent_While_Tested (T : in out Fixture) is
      pragma Unreferenced (T);

      procedure Act (Proxy : in out Silent_Proxies.Proxy) is
         Pool  : aliased Asking.Pool (1);
         Start : Ada.Real_Time.Time;
         Id    : SQL.Integer_64;
      begin
         declare
            Held : Asking.Lease (Pool'Access);
         begin
            Held.Get (Timeout => Long_Time);
            Id := Number (Held.DB, Dialect.Id.all);
         end;
         Silent_Proxies.Silence (Proxy, New_Ones => False);
         declare
            Held : Asking.Lease (Pool'Access);
         begin
            Start := Ada.Real_Time.Clock;
            Held.Get (Timeout => 20.0);
            Assert (Since (Start) < Long_Time, "the lease ends in time");
            Assert (Number (Held.DB, Dialect.Id.all) /= Id, "the lease has another session");
         end;
      end Act;
   begin
      Silent_Proxies.With_Proxy (Dialect.Variable.all, Act'Access);
   end Silent_While_Tested;

   procedure Silent_While_Opened (T : in out Fixture) is
      pragma Unreferenced (T);

      procedure Act (Proxy : in out Silent_Proxies.Proxy) is
         Pool  : aliased Pools.Pool (1);
         Start : constant Ada.Real_Time.Time := Ada.Real_Time.Clock;
      begin
         Silent_Proxies.Silence (Proxy, New_Ones => True);
         declare
            Held : Pools.Lease (Pool'Access);
         begin
            Held.Get (Timeout => 0.3);
            Silent_Proxies.Stop (Proxy);
            Assert (False, "there was a connection");
         exception
            when Pools.Pool_Timeout =>
               Assert (Since (Start) < Long_Time, "Get fails in time");
         end;
         Silent_Proxies.Stop (Proxy);  --  otherwise opening would continue
      end Act;
   begin
      Silent_Proxies.With_Proxy (Dialect.Variable.all, Act'Access);
   end Silent_While_Opened;

   --  The lease ends in time, and the connection is not leased again

   procedure Silent_While_Rolled_Back (T : in out Fixture) is
      pragma Unreferenced (T);

      procedure Act (Proxy : in out Silent_Proxies.Proxy) is
         Pool  : aliased Hasty.Pool (1);
         Start : Ada.Real_Time.Time;
      begin
         declare
            Held : Hasty.Lease (Pool'Access);
         begin
            Held.Get (Timeout => Long_Time);
            Held.DB.Execute ("BEGIN");
            Held.DB.Execute ("SELECT x FROM t");
            Silent_Proxies.Silence (Proxy, New_Ones => False);
            Start := Ada.Real_Time.Clock;
         end;
         Assert (Since (Start) < Long_Time, "the validation ends in time");
         Assert (Pool.Statistics.Open = 0 and then Pool.Statistics.In_Use = 0, "closed");
      end Act;
   begin
      Silent_Proxies.With_Proxy (Dialect.Variable.all, Act'Access);
   end Silent_While_Rolled_Back;

   --  A statement in use closes the connection, which would otherwise read all remaining rows

   Slow_Rows : constant String :=
     (if Dialect.Name.all = "PostgreSQL"
      then "SELECT repeat('x', 100000), CASE n WHEN 2 THEN pg_sleep(60)::text END"
           & " FROM generate_series(1, 2) AS n"
      else "SELECT repeat('x', 100000), CASE n WHEN 2 THEN sleep(60) END"
           & " FROM (SELECT 1 AS n UNION ALL SELECT 2) AS numbers");

   procedure Slow_While_Closed (T : in out Fixture) is
      Pool  : aliased Hasty.Pool (1);
      Start : Ada.Real_Time.Time;
      Id    : SQL.Integer_64;
   begin
      Be_Alone (T);
      declare
         Held : Hasty.Lease (Pool'Access);
      begin
         Held.Get (Timeout => Long_Time);
         Id := Number (Held.DB, Dialect.Id.all);
         declare
            Query : constant Hasty.Prepared_Statement := Held.Prepared (Slow_Rows);
         begin
            Query.Set_Streamed;
            Assert (Query.Step, "the first row");
            Start := Ada.Real_Time.Clock;
            Held.Release;
            Assert (Since (Start) < Long_Time, "the lease ends in time");
         end;
      end;
      Assert (Pool.Statistics.Open = 0 and then Pool.Statistics.In_Use = 0, "closed");
      End_Session (T, Id);
   end Slow_While_Closed;

   --  A lease ends after the Cancel of its connection, which could otherwise affect the next lease

   procedure Cancelled_At_Its_End (T : in out Fixture) is
      pragma Unreferenced (T);

      Pool      : aliased Pools.Pool (1);
      Held      : Pools.Lease (Pool'Access);
      Has_Begun : Boolean := False with Atomic;
      Is_Over   : Boolean := False with Atomic;
   begin
      Held.Get;
      declare
         task Other;
         task body Other is

            procedure Act is
            begin
               Has_Begun := True;
               delay 0.2;
               Is_Over := True;
            end Act;
         begin
            SQL.Held_Cancels.Hold (Held.DB.Element.all, Act'Access);
         end Other;
      begin
         while not Has_Begun loop
            delay 0.001;
         end loop;
         Held.Release;
         Assert (Is_Over, "the next lease could have received the cancellation");
      end;
      Held.Get;
      Reads (Held, 1, 10);
   end Cancelled_At_Its_End;

   package Caller is new AUnit.Test_Caller (Fixture);

   procedure Add
     (To : in out AUnit.Test_Suites.Test_Suite'Class; Name : String; Test : Caller.Test_Method) is
   begin
      To.Add_Test (Caller.Create (Dialect.Name.all & ": pool: " & Name, Test));
   end Add;

   function Suite return AUnit.Test_Suites.Access_Test_Suite is
      Result : constant AUnit.Test_Suites.Access_Test_Suite := AUnit.Test_Suites.New_Suite;
   begin
      Add (Result.all, "statements are cached", Keeps_Statements'Access);
      Add (Result.all, "parameters are null in the next lease", Unbound'Access);
      Add (Result.all, "a statement in use", Nested'Access);
      Add (Result.all, "the number of cached statements is limited", Bounded'Access);
      Add (Result.all, "an invalid text", Refused'Access);
      Add (Result.all, "schema changes", Changed_Schema'Access);
      Add (Result.all, "an open transaction", Left_Open'Access);
      Add (Result.all, "misuse", Misused'Access);
      Add (Result.all, "maximum lifetime", Life_Is_Short'Access);
      Add (Result.all, "tasks", By_Tasks'Access);
      Add (Result.all, "retries", Retried'Access);
      return Result;
   end Suite;

   function Server_Suite return AUnit.Test_Suites.Access_Test_Suite is
      Result : constant AUnit.Test_Suites.Access_Test_Suite := AUnit.Test_Suites.New_Suite;
   begin
      Add (Result.all, "state on the server", On_The_Server'Access);
      Add (Result.all, "a lost connection", Lost'Access);
      Add (Result.all, "a connection lost while idle", Lost_While_Idle'Access);
      Add (Result.all, "an unresponsive server during validation", Silent_While_Tested'Access);
      Add (Result.all, "an unresponsive server during opening", Silent_While_Opened'Access);
      Add (Result.all, "a cancellation at the end of a lease", Cancelled_At_Its_End'Access);
      Add (Result.all, "an unresponsive server during rollback", Silent_While_Rolled_Back'Access);
      Add (Result.all, "a slow server during close", Slow_While_Closed'Access);
      return Result;
   end Server_Suite;

end SQL_Pool_Tests;
