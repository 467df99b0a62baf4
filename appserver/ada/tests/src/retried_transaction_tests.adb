--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

with Ada.Real_Time;
with Appserver.Retry.Fault_Injection;
with Appserver.Retry.Transactions;
with Appserver.SQL.Injected_Errors;
with AUnit.Assertions;
with AUnit.Test_Caller;
with AUnit.Test_Fixtures;
with Checks;
with Silent_Proxies;

package body Retried_Transaction_Tests is

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
      Runs      : Natural := 0;
   end record;

   overriding procedure Set_Up (T : in out Fixture);
   overriding procedure Tear_Down (T : in out Fixture);

   overriding procedure Set_Up (T : in out Fixture) is
   begin
      Open (T.DB);
      T.DB.Execute ("CREATE TABLE t (id integer primary key, x integer, version integer)");
      T.DB.Execute ("INSERT INTO t VALUES (1, 100, 1), (2, 100, 1)");
      T.DB.Execute ("DROP TABLE IF EXISTS retry_key");
      T.DB.Execute ("CREATE TABLE retry_key (id varchar(255) primary key, result text)");
      T.Runs := 0;
   end Set_Up;

   overriding procedure Tear_Down (T : in out Fixture) is
   begin
      T.Tested_DB.Close;
      T.DB.Close;
   end Tear_Down;

   package Plain is new Retry.Transactions (Connection, Connect);

   function Number (DB : in out Connection; Query : String) return SQL.Integer_64 is
      Cursor : Statement;
   begin
      Prepare_Client_Side (Cursor, DB, Query);
      Assert (Cursor.Step, "a row of: " & Query);
      return Cursor.As_Integer_64 (1);
   end Number;

   procedure Check_Count (Found, Expected : SQL.Integer_64; Words : String) is
   begin
      Assert (Found'Image, Expected'Image, Words);
   end Check_Count;

   procedure Add_One (DB : in out Connection) is
   begin
      DB.Execute ("UPDATE t SET x = x + 1 WHERE id = 1");
   end Add_One;

   function Added_One (DB : in out Connection) return String is
   begin
      Add_One (DB);
      return Number (DB, "SELECT x FROM t WHERE id = 1")'Image;
   end Added_One;

   --------------
   -- Versions --
   --------------

   --  Reads a record in one transaction and changes it in another, like a user; in between, another
   --  user changes the record

   procedure Stale (T : in out Fixture) is
      Counted    : aliased Retry.Metrics;
      By         : constant Retry.Policy := (null, Counted'Access, others => <>);
      X, Version : SQL.Integer_64;

      procedure Change_Record is
      begin
         T.DB.Execute ("UPDATE t SET x = 200, version = 2 WHERE id = 1");
      end Change_Record;

      package Stopped is new Retry.Fault_Injection
        (Connection, Connect, After_First_Commit => Change_Record);

      procedure Read (DB : in out Connection) is
      begin
         X       := Number (DB, "SELECT x FROM t WHERE id = 1");
         Version := Number (DB, "SELECT version FROM t WHERE id = 1");
      end Read;

      procedure Write (DB : in out Connection) is
         Change : Statement;
      begin
         Prepare_Client_Side
           (Change, DB, "UPDATE t SET x = ?, version = version + 1 WHERE id = 1 AND version = ?");
         Change.Bind (1, X + 5);
         Change.Bind (2, Version);
         Change.Execute;
         Retry.Check_Version (DB);
      end Write;

      procedure Edit is
      begin
         Stopped.Transactions.Run (By, T.Tested_DB, Read'Access);
         Stopped.Transactions.Run (By, T.Tested_DB, Write'Access);
      end Edit;
   begin
      Retry.Run (By, Edit'Access);
      Answers (T.DB, "SELECT x FROM t WHERE id = 1", "205");
      Answers (T.DB, "SELECT version FROM t WHERE id = 1", "3");
      Check_Count (Counted.Statistics.Faults (Retry.Stale_Version), 1, "stale");
      Check_Count (Counted.Statistics.Calls, 1, "calls");
   end Stale;

   procedure No_Key (T : in out Fixture) is
      By : constant Retry.Policy := (others => <>);

      procedure Change_All (DB : in out Connection) is
      begin
         DB.Execute ("UPDATE t SET x = 0");
         Retry.Check_Version (DB);
      end Change_All;

      procedure Run is
      begin
         Plain.Run (By, T.Tested_DB, Change_All'Access);
      end Run;
   begin
      Is_Misuse (Run'Access, "2 rows");
      Answers (T.DB, "SELECT sum(x) FROM t", "200");
      Assert (T.Tested_DB.Is_Open, "a permanent failure keeps the session");
   end No_Key;

   ---------------------
   -- Outcome unknown --
   ---------------------

   generic
      with procedure Before_First_Commit is null;
      with procedure After_First_Commit is null;
   procedure Add_Once (T : in out Fixture);

   procedure Add_Once (T : in out Fixture) is
      Counted : aliased Retry.Metrics;
      By      : constant Retry.Policy := (null, Counted'Access, others => <>);

      package Stopped is new Retry.Fault_Injection
        (Connection, Connect, Before_First_Commit, After_First_Commit);
   begin
      for Time in 1 .. 2 loop
         Assert
           (Stopped.Transactions.Run_Once (By, T.Tested_DB, "order 1", Added_One'Access),
            " 101", "the result of the first commit");
      end loop;
      Answers (T.DB, "SELECT x FROM t WHERE id = 1", "101");
      Answers (T.DB, "SELECT count(*) FROM retry_key", "1");
      Check_Count (Counted.Statistics.Faults (Retry.Outcome_Unknown), 1, "outcome unknown");
      Check_Count (Counted.Statistics.Retries, 1, "retries");
   end Add_Once;

   procedure Lost_Before (T : in out Fixture) is
      procedure Add is new Add_Once
        (Before_First_Commit => SQL.Injected_Errors.Drop_Connection);
   begin
      Add (T);
   end Lost_Before;

   procedure Lost_After (T : in out Fixture) is
      procedure Add is new Add_Once
        (After_First_Commit => SQL.Injected_Errors.Drop_Connection);
   begin
      Add (T);
   end Lost_After;

   procedure Lost_Without_Result (T : in out Fixture) is
      By : constant Retry.Policy := (others => <>);

      package Stopped is new Retry.Fault_Injection
        (Connection, Connect, After_First_Commit => SQL.Injected_Errors.Drop_Connection);
   begin
      for Time in 1 .. 2 loop
         Stopped.Transactions.Run_Once (By, T.Tested_DB, "order 1", Add_One'Access);
      end loop;
      Answers (T.DB, "SELECT x FROM t WHERE id = 1", "101");
      Answers (T.DB, "SELECT count(*) FROM retry_key WHERE result IS NULL", "1");
      Assert
        (Stopped.Transactions.Run_Once (By, T.Tested_DB, "order 1", Added_One'Access), "",
         "the result is empty");
      Answers (T.DB, "SELECT x FROM t WHERE id = 1", "101");
   end Lost_Without_Result;

   --  The last attempt is followed by another one that determines the outcome

   procedure Lost_At_Last (T : in out Fixture) is
      By : constant Retry.Policy := (Attempts => 1, others => <>);

      package Stopped is new Retry.Fault_Injection
        (Connection, Connect, After_First_Commit => SQL.Injected_Errors.Drop_Connection);
   begin
      Assert
        (Stopped.Transactions.Run_Once (By, T.Tested_DB, "order 1", Added_One'Access),
         " 101", "the stored result");
      Answers (T.DB, "SELECT x FROM t WHERE id = 1", "101");
   end Lost_At_Last;

   --  The call must not report that it was not committed

   procedure Outcome_Never_Known (T : in out Fixture) is
      By : constant Retry.Policy := (Attempts => 2, others => <>);

      Opened : Natural := 0;

      procedure Open_Once (DB : in out Connection) is
      begin
         Opened := Opened + 1;
         if Opened > 1 then
            SQL.Injected_Errors.Fail ("08001");
         end if;
         Connect (DB);
      end Open_Once;

      package Stopped is new Retry.Fault_Injection
        (Connection, Open_Once, After_First_Commit => SQL.Injected_Errors.Drop_Connection);
   begin
      begin
         Stopped.Transactions.Run_Once (By, T.Tested_DB, "order 1", Add_One'Access);
         Assert (False, "no exception");
      exception
         when Retry.Outcome_Unknown_Error => null;
      end;
      Assert (Opened'Image, " 4", "attempts");
      Answers (T.DB, "SELECT x FROM t WHERE id = 1", "101");
   end Outcome_Never_Known;

   --  The key did not exist, so a later fault is reported as it is

   procedure Found_Undone (T : in out Fixture) is
      By : constant Retry.Policy := (Attempts => 2, others => <>);

      package Stopped is new Retry.Fault_Injection
        (Connection, Connect, Before_First_Commit => SQL.Injected_Errors.Drop_Connection);

      procedure Work (DB : in out Connection) is
      begin
         T.Runs := T.Runs + 1;
         Add_One (DB);
         if T.Runs > 1 then
            SQL.Injected_Errors.Fail ("40P01");
         end if;
      end Work;

      procedure Run is
      begin
         Stopped.Transactions.Run_Once (By, T.Tested_DB, "order 1", Work'Access);
      end Run;
   begin
      Is_Refused (Run'Access, "40P01");
      Assert (T.Runs = 2, "attempts");
      Answers (T.DB, "SELECT x FROM t WHERE id = 1", "100");
   end Found_Undone;

   procedure Lost_Without_Key (T : in out Fixture) is
      Counted : aliased Retry.Metrics;
      By      : constant Retry.Policy := (null, Counted'Access, others => <>);

      package Stopped is new Retry.Fault_Injection
        (Connection, Connect, After_First_Commit => SQL.Injected_Errors.Drop_Connection);
   begin
      begin
         Stopped.Transactions.Run (By, T.Tested_DB, Add_One'Access);
         Assert (False, "no exception");
      exception
         when Retry.Outcome_Unknown_Error => null;
      end;
      Answers (T.DB, "SELECT x FROM t WHERE id = 1", "101");
      Check_Count (Counted.Statistics.Given_Up, 1, "given up");
      Stopped.Transactions.Run (By, T.Tested_DB, Add_One'Access);
      Answers (T.DB, "SELECT x FROM t WHERE id = 1", "102");
   end Lost_Without_Key;

   procedure Failed_With_Key (T : in out Fixture) is
      By : constant Retry.Policy := (others => <>);

      function Fail (DB : in out Connection) return String is
        (Number (DB, "SELECT x FROM nowhere")'Image);

      procedure Run is
      begin
         Assert (Plain.Run_Once (By, T.Tested_DB, "order 1", Fail'Access) = "", "failed");
      end Run;
   begin
      Is_Refused (Run'Access, Dialect.No_Table);
      Answers (T.DB, "SELECT count(*) FROM retry_key", "0");
   end Failed_With_Key;

   -----------
   -- Parts --
   -----------

   --  A nested call takes effect with its transaction. Its fault is not lost, even if the
   --  transaction handles it.

   procedure Part (T : in out Fixture) is
      Counted : aliased Retry.Metrics;
      By      : constant Retry.Policy := (null, Counted'Access, others => <>);

      procedure Inner (DB : in out Connection) is
      begin
         Add_One (DB);
         if T.Runs = 1 then
            SQL.Injected_Errors.Fail ("40P01");
         end if;
      end Inner;

      procedure Outer (DB : in out Connection) is
      begin
         T.Runs := T.Runs + 1;
         Add_One (DB);
         Plain.Run (By, T.Tested_DB, Inner'Access);
      exception
         when SQL.SQL_Error => null;
      end Outer;
   begin
      Plain.Run (By, T.Tested_DB, Outer'Access);
      Assert (T.Runs = 2, "the whole transaction is retried");
      Answers (T.DB, "SELECT x FROM t WHERE id = 1", "102");
      Check_Count (Counted.Statistics.Faults (Retry.Deadlock), 1, "deadlocks");
      Check_Count (Counted.Statistics.Calls, 1, "calls");
   end Part;

   --------------
   -- Sessions --
   --------------

   procedure Kill (T : in out Fixture; Id : SQL.Integer_64) is
   begin
      T.DB.Execute (Dialect.Kill.all & Id'Image & Dialect.After_Kill.all);
   end Kill;

   --  The session of the retry: the session of the failed attempt, without its effects, or a new
   --  session

   generic
      Session_Per_Attempt : Boolean;
   procedure Retry_After_A_Fault (T : in out Fixture);

   procedure Retry_After_A_Fault (T : in out Fixture) is
      Counted : aliased Retry.Metrics;
      By      : constant Retry.Policy := (null, Counted'Access, Attempts => 2, others => <>);

      procedure Deadlock is
      begin
         SQL.Injected_Errors.Fail ("40P01");
      end Deadlock;

      package Stopped is new Retry.Fault_Injection
        (Connection, Connect,
         Before_First_Commit => Deadlock,
         Session_Per_Attempt => Session_Per_Attempt);

      Id : SQL.Integer_64;
   begin
      Connect (T.Tested_DB);
      Id := Number (T.Tested_DB, Dialect.Id.all);
      Stopped.Transactions.Run (By, T.Tested_DB, Add_One'Access);
      Check_Count (Counted.Statistics.Faults (Retry.Deadlock), 1, "deadlocks");
      Assert
        ((Number (T.Tested_DB, Dialect.Id.all) /= Id) = Session_Per_Attempt,
         "a new session for each attempt, if requested");
      Answers (T.DB, "SELECT x FROM t WHERE id = 1", "101");
   end Retry_After_A_Fault;

   procedure Kept_By_A_Fault is new Retry_After_A_Fault (Session_Per_Attempt => False);
   procedure New_After_A_Fault is new Retry_After_A_Fault (Session_Per_Attempt => True);

   --  A session must not be used without its settings

   procedure Not_Set (T : in out Fixture) is
      By : constant Retry.Policy := (others => <>);

      Opened : Natural := 0;

      procedure Open (DB : in out Connection) is
      begin
         Opened := Opened + 1;
         Connect (DB);
         if Opened = 1 then
            SQL.Injected_Errors.Fail ("42501");
         end if;
      end Open;

      package Opening is new Retry.Transactions (Connection, Open);

      procedure Add is
      begin
         Opening.Run (By, T.Tested_DB, Add_One'Access);
      end Add;
   begin
      Is_Refused (Add'Access, "42501");
      Assert (not T.Tested_DB.Is_Open, "a session without settings is closed");
      Add;
      Assert (Opened = 2, "the session is opened again");
      Answers (T.DB, "SELECT x FROM t WHERE id = 1", "101");
   end Not_Set;

   procedure Ended_In_Work (T : in out Fixture) is
      Counted : aliased Retry.Metrics;
      By      : constant Retry.Policy := (null, Counted'Access, others => <>);

      procedure Work (DB : in out Connection) is
      begin
         T.Runs := T.Runs + 1;
         if T.Runs = 1 then
            Kill (T, Number (DB, Dialect.Id.all));
         end if;
         Add_One (DB);
      end Work;
   begin
      Plain.Run (By, T.Tested_DB, Work'Access);
      Assert (T.Runs = 2, "the work runs once more");
      Answers (T.DB, "SELECT x FROM t WHERE id = 1", "101");
      Check_Count (Counted.Statistics.Faults (Retry.Connection_Lost), 1, "connection lost");
   end Ended_In_Work;

   --  No commit was sent, so the outcome is known

   procedure Ended_Before_Work (T : in out Fixture) is
      Counted : aliased Retry.Metrics;
      By      : constant Retry.Policy := (null, Counted'Access, others => <>);

      procedure End_Session is
         Id : constant SQL.Integer_64 := Number (T.Tested_DB, Dialect.Id.all);
      begin
         Kill (T, Id);
         for Time in 1 .. 6_000 loop
            exit when Number (T.DB, Dialect.Sessions.all) = 1;
            delay 0.01;
         end loop;
         Assert (Number (T.DB, Dialect.Sessions.all) = 1, "the session has ended");
      end End_Session;

      procedure Work (DB : in out Connection) is
      begin
         T.Runs := T.Runs + 1;
         Add_One (DB);
      end Work;

      procedure Is_Retried (Lost : SQL.Integer_64) is
      begin
         Answers (T.DB, "SELECT x FROM t WHERE id = 1", "101");
         Check_Count (Counted.Statistics.Faults (Retry.Connection_Lost), Lost, "connection lost");
         Check_Count (Counted.Statistics.Faults (Retry.Outcome_Unknown), 0, "outcome unknown");
         Check_Count (Counted.Statistics.Retries, Lost, "retries");
         Assert (T.Runs = 1, "runs of the work:" & T.Runs'Image);
      end Is_Retried;
   begin
      Connect (T.Tested_DB);
      End_Session;
      Plain.Run_Once (By, T.Tested_DB, "order 1", Work'Access);
      Is_Retried (Lost => 1);
      End_Session;
      Plain.Run_Once (By, T.Tested_DB, "order 1", Work'Access);
      Is_Retried (Lost => 2);
   end Ended_Before_Work;

   procedure Ended_Before_Commit (T : in out Fixture) is
      Id : SQL.Integer_64;

      procedure Kill_Session is
      begin
         Id := Number (T.Tested_DB, Dialect.Id.all);
         Kill (T, Id);
      end Kill_Session;

      procedure Add is new Add_Once (Before_First_Commit => Kill_Session);
   begin
      Add (T);
   end Ended_Before_Commit;

   --------------
   -- Deadlock --
   --------------

   protected type Meeting is
      procedure Arrive;
      entry Wait;
   private
      Arrived : Natural := 0;
   end Meeting;

   protected body Meeting is

      procedure Arrive is
      begin
         Arrived := Arrived + 1;
      end Arrive;

      entry Wait when Arrived >= 2 is
      begin
         null;
      end Wait;

   end Meeting;

   procedure Meet (Both_Locked : in out Meeting) is
   begin
      Both_Locked.Arrive;
      select
         Both_Locked.Wait;
      or
         delay 120.0;
      end select;
   end Meet;

   procedure Move (By : Retry.Policy; From, To : String; Both_Locked : in out Meeting) is
      DB       : aliased Connection;
      Is_First : Boolean := True;

      procedure Work (DB : in out Connection) is
      begin
         DB.Execute ("UPDATE t SET x = x - 1 WHERE id = " & From);
         if Is_First then
            Is_First := False;
            Meet (Both_Locked);
         end if;
         DB.Execute ("UPDATE t SET x = x + 1 WHERE id = " & To);
      end Work;
   begin
      Plain.Run (By, DB, Work'Access);
   end Move;

   --  Runs a call while another transaction moves from row 2 to row 1

   procedure Run_Beside_Move
     (By : Retry.Policy; Both_Locked : in out Meeting; Call : not null access procedure)
   is
      task Other;

      task body Other is
      begin
         Move (By, "2", "1", Both_Locked);
      end Other;
   begin
      Call.all;
   end Run_Beside_Move;

   --  At least once: in PostgreSQL, the retry may arrive before the transaction that waited for the
   --  rows

   procedure Deadlocked (Counted : Retry.Metrics) is
      Statistics : constant Retry.Retry_Statistics := Counted.Statistics;
   begin
      Assert (Statistics.Retries >= 1, "a retry");
      Check_Count (Statistics.Faults (Retry.Deadlock), Statistics.Retries, "deadlocks");
   end Deadlocked;

   procedure Deadlock (T : in out Fixture) is
      Counted     : aliased Retry.Metrics;
      By          : constant Retry.Policy := (null, Counted'Access, others => <>);
      Both_Locked : Meeting;

      procedure Move_To_Second is
      begin
         Move (By, "1", "2", Both_Locked);
      end Move_To_Second;
   begin
      Run_Beside_Move (By, Both_Locked, Move_To_Second'Access);
      Answers (T.DB, "SELECT x FROM t WHERE id = 1", "100");
      Answers (T.DB, "SELECT x FROM t WHERE id = 2", "100");
      Deadlocked (Counted);
   end Deadlock;

   --  A transaction that is stopped at its commit requests a row that another transaction has
   --  locked

   procedure Deadlock_At_Commit (T : in out Fixture) is
      Counted     : aliased Retry.Metrics;
      By          : constant Retry.Policy := (null, Counted'Access, others => <>);
      Both_Locked : Meeting;

      procedure Ask is
      begin
         Meet (Both_Locked);
         T.Tested_DB.Execute ("UPDATE t SET x = x + 0 WHERE id = 2");
      end Ask;

      package Stopped is new Retry.Fault_Injection
        (Connection, Connect, Before_First_Commit => Ask);

      procedure Add is
      begin
         Stopped.Transactions.Run (By, T.Tested_DB, Add_One'Access);
      end Add;
   begin
      Run_Beside_Move (By, Both_Locked, Add'Access);
      Answers (T.DB, "SELECT x FROM t WHERE id = 1", "102");
      Answers (T.DB, "SELECT x FROM t WHERE id = 2", "99");
      Deadlocked (Counted);
   end Deadlock_At_Commit;

   procedure Locked (T : in out Fixture) is
      Counted : aliased Retry.Metrics;
      By      : constant Retry.Policy := (null, Counted'Access, others => <>);

      Holder : SQL.Transaction (T.DB'Access);

      procedure Work (DB : in out Connection) is
      begin
         T.Runs := T.Runs + 1;
         if T.Runs = 2 then
            Holder.Commit;
         end if;
         DB.Execute ("SELECT x FROM t WHERE id = 1 FOR UPDATE NOWAIT");
         Add_One (DB);
      end Work;
   begin
      T.DB.Execute ("UPDATE t SET x = 110 WHERE id = 1");
      Plain.Run (By, T.Tested_DB, Work'Access);
      Answers (T.DB, "SELECT x FROM t WHERE id = 1", "111");
      Check_Count (Counted.Statistics.Faults (Retry.Lock_Timeout), 1, "locked");
   end Locked;

   --  A server that stops responding at some point. The call uses a proxy.

   type Silent_Moment is (While_Opening, In_Work, In_Commit);

   --  The program's own limit, longer than any call in these tests takes

   Long_Limit : constant := 300.0;

   procedure Connect_With_Limit (DB : in out Connection) is
   begin
      DB.Set_Wait_Limit (Long_Limit);
      Connect (DB);
   end Connect_With_Limit;

   procedure Set_Limit_Last (DB : in out Connection) is
   begin
      Connect (DB);
      DB.Set_Wait_Limit (Long_Limit);
   end Set_Limit_Last;

   package With_Limit is new Retry.Transactions (Connection, Connect_With_Limit);
   package With_Last_Limit is new Retry.Transactions (Connection, Set_Limit_Last);

   procedure Limit_Of_Opening (T : in out Fixture) is
      By : constant Retry.Policy := (null, null, Timeout => 60.0, others => <>);
   begin
      With_Limit.Run (By, T.Tested_DB, Add_One'Access);
      Assert
        (T.Tested_DB.Wait_Limit = Long_Limit, "a limit that is set before the connection is open");
      T.Tested_DB.Close;
      T.Tested_DB.Set_Wait_Limit (0.0);
      With_Last_Limit.Run (By, T.Tested_DB, Add_One'Access);
      Assert
        (T.Tested_DB.Wait_Limit = Long_Limit, "a limit that is set after the connection is open");
   end Limit_Of_Opening;

   procedure Is_Silent (T : in out Fixture; Moment : Silent_Moment) is
      use Ada.Real_Time;

      Counted : aliased Retry.Metrics;
      By      : constant Retry.Policy := (null, Counted'Access, Timeout => 0.5, others => <>);
      Start   : Time;

      procedure Act (Proxy : in out Silent_Proxies.Proxy) is

         procedure Silence is
         begin
            Silent_Proxies.Silence (Proxy, New_Ones => True);
         end Silence;

         procedure Silence_Commit is
         begin
            if Moment = In_Commit then
               Silence;
            end if;
         end Silence_Commit;

         package Silenced is new Retry.Fault_Injection
           (Connection, Connect_With_Limit, Before_First_Commit => Silence_Commit);

         procedure Work (DB : in out Connection) is
         begin
            if Moment = In_Work then
               Silence;
            end if;
            Add_One (DB);
         end Work;
      begin
         if Moment = While_Opening then
            Silence;
         else
            Connect_With_Limit (T.Tested_DB);  --  which may take longer than the timeout
         end if;
         Start := Clock;
         Silenced.Transactions.Run (By, T.Tested_DB, Work'Access);
         Assert (False, "no exception");
      exception
         when Error : SQL.SQL_Error =>
            Assert
              (SQL.State_Of (Error), (if Moment = While_Opening then "08001" else "08006"),
               "the state of the error");
         when Retry.Outcome_Unknown_Error =>
            Assert (Moment = In_Commit, "only the outcome of a commit can be unknown");
      end Act;
   begin
      Silent_Proxies.With_Proxy (Dialect.Variable.all, Act'Access);
      Assert (Clock - Start < Seconds (120), "the call ends in time");
      Assert (not T.Tested_DB.Is_Open, "closed");
      Assert (T.Tested_DB.Wait_Limit = Long_Limit, "the program's own limit is restored");
      Check_Count (Counted.Statistics.Retries, 0, "retries");
   end Is_Silent;

   procedure Silent_Opening (T : in out Fixture) is
   begin
      Is_Silent (T, While_Opening);
   end Silent_Opening;

   procedure Silent_Work (T : in out Fixture) is
   begin
      Is_Silent (T, In_Work);
   end Silent_Work;

   procedure Silent_Commit (T : in out Fixture) is
   begin
      Is_Silent (T, In_Commit);
   end Silent_Commit;

   --  Another transaction locks the row for as long as the call may take

   procedure Too_Long (T : in out Fixture) is
      use Ada.Real_Time;

      Counted : aliased Retry.Metrics;
      By      : constant Retry.Policy := (null, Counted'Access, Timeout => 0.5, others => <>);
      Holder  : SQL.Transaction (T.DB'Access);
      Start   : Time;
   begin
      T.DB.Execute ("UPDATE t SET x = 110 WHERE id = 1");
      Connect (T.Tested_DB);  --  which may take longer than the timeout
      Start := Clock;
      Plain.Run (By, T.Tested_DB, Add_One'Access);
      Assert (False, "no exception");
   exception
      when Error : SQL.SQL_Error =>
         Assert (SQL.State_Of (Error), "08006", "the connection was cut off");
         Assert (Clock - Start < Seconds (120), "the call ends in time");
         Assert (not T.Tested_DB.Is_Open, "the session is closed");
         Check_Count (Counted.Statistics.Retries, 0, "retries");
         Holder.Roll_Back;
         Answers (T.DB, "SELECT x FROM t WHERE id = 1", "100");
   end Too_Long;

   package Caller is new AUnit.Test_Caller (Fixture);

   function New_Test (Text : String; Test : Caller.Test_Method) return Caller.Test_Case_Access is
     (Caller.Create (Dialect.Name.all & ", retry: " & Text, Test));

   function Suite return AUnit.Test_Suites.Access_Test_Suite is
      Result : constant AUnit.Test_Suites.Access_Test_Suite := AUnit.Test_Suites.New_Suite;
   begin
      Result.Add_Test (New_Test ("a stale version", Stale'Access));
      Result.Add_Test (New_Test ("a condition that is not a key", No_Key'Access));
      Result.Add_Test (New_Test ("a session lost before the commit", Lost_Before'Access));
      Result.Add_Test (New_Test ("a session lost after the commit", Lost_After'Access));
      Result.Add_Test (New_Test ("a lost call without a result", Lost_Without_Result'Access));
      Result.Add_Test (New_Test ("a session lost at the last attempt", Lost_At_Last'Access));
      Result.Add_Test (New_Test ("an outcome that stays unknown", Outcome_Never_Known'Access));
      Result.Add_Test (New_Test ("a lost commit that took no effect", Found_Undone'Access));
      Result.Add_Test (New_Test ("a lost call without a key", Lost_Without_Key'Access));
      Result.Add_Test (New_Test ("a failed call with a key", Failed_With_Key'Access));
      Result.Add_Test (New_Test ("a part", Part'Access));
      Result.Add_Test (New_Test ("a session without settings", Not_Set'Access));
      return Result;
   end Suite;

   function Server_Suite return AUnit.Test_Suites.Access_Test_Suite is
      Result : constant AUnit.Test_Suites.Access_Test_Suite := AUnit.Test_Suites.New_Suite;
   begin
      Result.Add_Test (New_Test ("a fault keeps the session", Kept_By_A_Fault'Access));
      Result.Add_Test (New_Test ("a new session for each attempt", New_After_A_Fault'Access));
      Result.Add_Test (New_Test ("a session that ends during the work", Ended_In_Work'Access));
      Result.Add_Test (New_Test ("a session that ended before the work", Ended_Before_Work'Access));
      Result.Add_Test
        (New_Test ("a session that ends before the commit", Ended_Before_Commit'Access));
      Result.Add_Test (New_Test ("a deadlock", Deadlock'Access));
      Result.Add_Test (New_Test ("a deadlock at the commit", Deadlock_At_Commit'Access));
      Result.Add_Test (New_Test ("a lock that is not free", Locked'Access));
      Result.Add_Test (New_Test ("a lock that is not released in time", Too_Long'Access));
      Result.Add_Test (New_Test ("a limit that the opening sets", Limit_Of_Opening'Access));
      Result.Add_Test
        (New_Test ("a server that does not respond to the opening", Silent_Opening'Access));
      Result.Add_Test (New_Test ("a server that stops responding", Silent_Work'Access));
      Result.Add_Test
        (New_Test ("a server that does not respond to the commit", Silent_Commit'Access));
      return Result;
   end Server_Suite;

end Retried_Transaction_Tests;
