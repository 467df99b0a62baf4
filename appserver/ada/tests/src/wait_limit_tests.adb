--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

with Ada.Environment_Variables;
with Ada.Real_Time;
with Ada.Strings.Fixed;
with Ada.Text_IO;
with Appserver.SQL.Batches;
with Appserver.SQL.Held_Cancels;
with Appserver.SQL.Pools;
with AUnit.Assertions;
with AUnit.Test_Caller;
with AUnit.Test_Fixtures;
with Checks;
with Interfaces.C;
with Silent_Proxies;
with Silent_Resolvers;

package body Wait_Limit_Tests is

   use AUnit.Assertions;
   use Checks;
   use Database;
   use type SQL.Integer_64;

   type Fixture is new AUnit.Test_Fixtures.Test_Fixture with record
      DB : aliased Connection;
   end record;

   overriding procedure Set_Up (T : in out Fixture);
   overriding procedure Tear_Down (T : in out Fixture);

   overriding procedure Set_Up (T : in out Fixture) is
   begin
      T.DB.Set_Wait_Limit (0.0);  --  all tests have the same fixture
      Open (T.DB);
      T.DB.Execute ("CREATE TABLE t (x integer)");
      T.DB.Execute ("INSERT INTO t VALUES (1), (2)");
   end Set_Up;

   overriding procedure Tear_Down (T : in out Fixture) is
   begin
      T.DB.Close;
   end Tear_Down;

   Limit : constant Duration := 0.5;

   type Operation is
     (Execute, Prepare_One, Run_Prepared, Run_Text, Step_Stream, Leave_Stream, Begin_Isolated,
      Commit, Roll_Back, Savepoint, Batch, Load, Last_Id, Reset_Session);

   procedure Bind_One (To : in out SQL.Statement'Class; Element : Positive) is
   begin
      To.Bind (1, SQL.Integer_64 (Element));
   end Bind_One;

   --  Prepares the operation Kind, calls Silence, and then runs the operation, which must end

   procedure Run
     (DB      : aliased in out Connection;
      Kind    : Operation;
      Silence : not null access procedure)
   is
      Query : Statement;

      procedure Run_Batch is
         Counts : SQL.Count_List (1 .. 1_000);
      begin
         SQL.Batches.Execute (Query, Bind_One'Access, Counts);
      end Run_Batch;

      procedure Run_Load is
         Rows  : SQL.Integer_64;
         Count : Natural := 0;

         function Next (Row : in out SQL.Statement'Class) return Boolean is
         begin
            Count := Count + 1;
            Row.Bind (1, SQL.Integer_64 (Count));
            return Count <= 10_000;
         end Next;
      begin
         SQL.Batches.Load (DB, "t", "x", Next'Access, Rows);
      end Run_Load;
   begin
      case Kind is
         when Execute =>
            Silence.all;
            DB.Execute ("SELECT 1");
         when Prepare_One =>
            Silence.all;
            Prepare (Query, DB, "SELECT 1");
         when Run_Prepared =>
            Prepare (Query, DB, "SELECT 1");
            Silence.all;
            Assert (Query.Step, "a row");
         when Run_Text =>
            Prepare_Client_Side (Query, DB, "SELECT 1");
            Silence.all;
            Assert (Query.Step, "a row");
         when Step_Stream | Leave_Stream =>
            --  Much more than the socket buffers between client and server can hold
            Prepare_Client_Side
              (Query, DB,
               "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 900)"
               & " SELECT repeat('x', 30000) FROM n, n AS m");
            Query.Set_Streamed;
            Assert (Query.Step, "a row");
            Silence.all;
            if Kind = Step_Stream then
               Query.Execute;
            else
               Query.Reset;
            end if;
         when Begin_Isolated =>
            Silence.all;
            declare
               Work : SQL.Isolated_Transaction (DB'Access, SQL.Serializable, SQL.Read_Write);
            begin
               Work.Commit;
            end;
         when Commit | Roll_Back | Savepoint =>
            declare
               Work : SQL.Transaction (DB'Access);
            begin
               DB.Execute ("SELECT x FROM t");
               Silence.all;
               case Kind is
                  when Commit    => Work.Commit;
                  when Roll_Back => Work.Roll_Back;
                  when others    =>
                     declare
                        Part : SQL.Savepoint (DB'Access);
                     begin
                        Part.Release;
                     end;
               end case;
            end;
         when Batch =>
            Prepare (Query, DB, "INSERT INTO t VALUES (?)");
            Silence.all;
            Run_Batch;
         when Load =>
            Silence.all;
            Run_Load;
         when Last_Id =>
            Silence.all;
            Assert (DB.Last_Insert_Id >= 0, "an ID");
            --  Only PostgreSQL asks the server for it
            DB.Execute ("SELECT 1");
         when Reset_Session =>
            Silence.all;
            DB.Reset_Session;
      end case;
   end Run;

   procedure Operations (T : in out Fixture) is
      pragma Unreferenced (T);
   begin
      for Kind in Operation loop
         declare
            procedure Act (Proxy : in out Silent_Proxies.Proxy) is
               DB    : aliased Connection;
               Start : Ada.Real_Time.Time := Ada.Real_Time.Time_Last;

               procedure Silence is
               begin
                  Silent_Proxies.Silence (Proxy, New_Ones => False);
                  DB.Set_Wait_Limit (Limit);
                  Start := Ada.Real_Time.Clock;
               end Silence;

               procedure Run_It is
               begin
                  Run (DB, Kind, Silence'Access);
               end Run_It;
            begin
               Connect (DB);
               Is_Refused (Run_It'Access, "08006", "no response within 0.500 s");
               Assert (Since (Start) < Long_Time, Kind'Image & " took" & Since (Start)'Image);
               Assert (not DB.Is_Connected, Kind'Image & ": the connection is lost");
               DB.Close;
            end Act;
         begin
            Silent_Proxies.With_Proxy (Dialect.Variable.all, Act'Access);
         end;
      end loop;
   end Operations;

   --  Operations that raise no exception

   procedure Closing (T : in out Fixture) is
      pragma Unreferenced (T);

      procedure Act (Proxy : in out Silent_Proxies.Proxy) is
         DB    : aliased Connection;
         Query : Statement;
         Start : Ada.Real_Time.Time;
      begin
         Connect (DB);
         Prepare (Query, DB, "SELECT 1");
         Silent_Proxies.Silence (Proxy, New_Ones => False);
         DB.Set_Wait_Limit (Limit);
         Start := Ada.Real_Time.Clock;
         Query.Close;
         Assert (Since (Start) < Long_Time, "the statement took" & Since (Start)'Image);
         Start := Ada.Real_Time.Clock;
         DB.Close;
         Assert (Since (Start) < Long_Time, "the connection took" & Since (Start)'Image);
      end Act;
   begin
      Silent_Proxies.With_Proxy (Dialect.Variable.all, Act'Access);
   end Closing;

   --  A server that accepts the connection and does not respond, and a server that stops while the
   --  connection is being opened

   procedure Opening (T : in out Fixture) is
      pragma Unreferenced (T);

      procedure Act (Proxy : in out Silent_Proxies.Proxy) is
         DB    : aliased Connection;
         Start : constant Ada.Real_Time.Time := Ada.Real_Time.Clock;

         procedure Open_It is
         begin
            Connect (DB);
         end Open_It;
      begin
         Silent_Proxies.Silence (Proxy, New_Ones => True);
         DB.Set_Wait_Limit (Limit);
         Is_Refused (Open_It'Access, "08001");
         Assert (Since (Start) < Long_Time, "the operation ends in time");
         Assert (not DB.Is_Open, "closed");
      end Act;
   begin
      Silent_Proxies.With_Proxy (Dialect.Variable.all, Act'Access);
   end Opening;

   --  Unknown host names, and a name for which the resolver does not respond

   procedure Open_At (Host : String; Wait : Duration; Words : String) is

      Start : constant Ada.Real_Time.Time := Ada.Real_Time.Clock;
      DB    : aliased Connection;

      procedure Open_It is
      begin
         Connect (DB);
      end Open_It;

      use Ada.Environment_Variables;

      Direct : constant String := Value (Dialect.Variable.all);
   begin
      Set
        (Dialect.Variable.all,
         (if Dialect.Name.all = "PostgreSQL" then "postgresql" else "mariadb")
         & "://a:b@" & Host & "/c");
      DB.Set_Wait_Limit (Wait);
      Is_Refused (Open_It'Access, "08001", Words);
      Set (Dialect.Variable.all, Direct);
      Assert (Since (Start) < Long_Time, "the operation ends in time");
   exception
      when others =>
         Set (Dialect.Variable.all, Direct);
         raise;
   end Open_At;

   procedure Unknown_Host (T : in out Fixture) is
      pragma Unreferenced (T);
   begin
      Open_At ("nowhere.invalid", 5.0, "");
      Open_At
        (Silent_Resolvers.Silent_Host, Limit,
         (if Dialect.Name.all = "PostgreSQL" then "not resolved in time"
          else "no connection within 0.500 s"));
   end Unknown_Host;

   --  A limit applies to one operation. Time between operations, or while buffered rows are read,
   --  does not count. If a busy machine takes longer than the limit for an operation, it fails.

   procedure In_Time (T : in out Fixture) is
      Patient : constant Duration := 4.0;
      Query   : Statement;
      Begun   : Ada.Real_Time.Time;
   begin
      T.DB.Set_Wait_Limit (Patient);
      Begun := Ada.Real_Time.Clock;
      Answers (T.DB, "SELECT 1", "1");
      Begun := Ada.Real_Time.Clock;
      Prepare (Query, T.DB, "SELECT x FROM t ORDER BY x");
      Assert (Query.Step, "a row");
      delay Patient + 0.5;
      Begun := Ada.Real_Time.Clock;
      Assert
        (Query.Step and then Query.As_Integer_64 (1) = 2, "a row that has already been received");
      Answers (T.DB, "SELECT 1", "1");
      Assert (T.DB.Wait_Limit = Patient, "the limit is unchanged");
      Assert (T.DB.Is_Connected, "connected");
   exception
      when Error : SQL.SQL_Error =>
         Assert
           (Since (Begun) >= Patient, "the operation failed too early: " & SQL.Message_Of (Error));
   end In_Time;

   --  The time that the program takes to produce rows does not count

   procedure Own_Time (T : in out Fixture) is
      Patient : constant Duration := 4.0;
      Insert  : Statement;
      Counts  : SQL.Count_List (1 .. 2);
      Loaded  : SQL.Integer_64;
      Count   : Natural := 0;
      Begun   : Ada.Real_Time.Time;
      Own     : Duration := 0.0;
      --  The program's own time since then

      procedure Work is
         Start : constant Ada.Real_Time.Time := Ada.Real_Time.Clock;
      begin
         delay Patient + 0.5;
         Own := Own + Since (Start);
      end Work;

      procedure Begin_Operation is
      begin
         Begun := Ada.Real_Time.Clock;
         Own   := 0.0;
      end Begin_Operation;

      procedure Bind_Slowly (To : in out SQL.Statement'Class; Element : Positive) is
      begin
         if Element = 2 then
            Work;
         end if;
         Bind_One (To, Element);
      end Bind_Slowly;

      function Next_Slowly (Row : in out SQL.Statement'Class) return Boolean is
      begin
         Count := Count + 1;
         if Count = 2 then
            Work;
         end if;
         Row.Bind (1, SQL.Integer_64 (Count));
         return Count <= 2;
      end Next_Slowly;
   begin
      T.DB.Set_Wait_Limit (Patient);
      Begin_Operation;
      Prepare (Insert, T.DB, "INSERT INTO t VALUES (?)");
      Begin_Operation;
      SQL.Batches.Execute (Insert, Bind_Slowly'Access, Counts);
      Begin_Operation;
      SQL.Batches.Load (T.DB, "t", "x", Next_Slowly'Access, Loaded);
      Begin_Operation;
      Answers (T.DB, "SELECT count(*) FROM t", "6");
   exception
      when Error : SQL.SQL_Error =>
         Assert
           (Since (Begun) - Own >= Patient,
            "the operation failed too early: " & SQL.Message_Of (Error));
   end Own_Time;

   --  A statement waits for another task's Cancel no longer than its limit

   procedure Behind_Cancel (T : in out Fixture) is

      procedure Execute is
      begin
         T.DB.Execute ("SELECT 1");
      end Execute;

      procedure Act is
      begin
         Is_Refused (Execute'Access, "08006", "a Cancel is still in progress");
      end Act;
   begin
      T.DB.Set_Wait_Limit (Limit);
      SQL.Held_Cancels.Hold (T.DB, Act'Access);
      T.DB.Close;
      Assert (not T.DB.Is_Open, "closed");
   end Behind_Cancel;

   --  A cleanup also waits no longer than its limit, and must not fail: the connection is then lost

   procedure Cleanup_Behind_Cancel (T : in out Fixture) is

      Work                  : SQL.Transaction (T.DB'Access);
      Has_Ended, Is_In_Time : Boolean := False with Atomic;

      task Other is
         entry Begin_Work;
      end Other;

      task body Other is
      begin
         accept Begin_Work;
         Work.Roll_Back;
         Has_Ended := True;
      exception
         when SQL.SQL_Error => Has_Ended := True;
      end Other;

      procedure Act is
      begin
         Other.Begin_Work;
         for Wait in 1 .. 60_000 loop
            exit when Has_Ended;
            delay 0.001;
         end loop;
         Is_In_Time := Has_Ended;
      end Act;
   begin
      T.DB.Set_Wait_Limit (Limit);
      SQL.Held_Cancels.Hold (T.DB, Act'Access);
      Assert (Is_In_Time, "the rollback waited for the Cancel");
      Assert (not T.DB.Is_Connected, "lost");
   end Cleanup_Behind_Cancel;

   --  A Cancel that begins during a Close does not stop anything

   procedure Cancel_In_Close (T : in out Fixture) is
      Has_Target : Boolean;
   begin
      SQL.Held_Cancels.Close (T.DB, Has_Target);
      Assert (not Has_Target, "the Close is not a target of the Cancel");
      Connect (T.DB);
      Answers (T.DB, "SELECT 1", "1");
      SQL.Held_Cancels.Close (T.DB, Has_Target);
      Assert (not Has_Target, "the second Close is not a target of the Cancel");
   end Cancel_In_Close;

   procedure Cancel_At_End (T : in out Fixture) is
      pragma Unreferenced (T);
      DB                     : aliased Connection;
      Is_Refused, Is_Awaited : Boolean;
   begin
      SQL.Held_Cancels.Cancel_At_End (DB, Is_Refused, Is_Awaited);
      Assert (Is_Refused, "refused");
      Assert (not Is_Awaited, "the finalization does not wait for the Cancel");
   end Cancel_At_End;

   --  Without a free file descriptor, no limit can start: statements fail, but cleanup works

   procedure No_Descriptors (T : in out Fixture) is

      type Resource_Limit is record
         Soft, Hard : Interfaces.C.unsigned_long;
      end record
        with Convention => C;

      Open_Files : constant := 7;
      --  RLIMIT_NOFILE on Linux

      function Get_Limit
        (Resource : Interfaces.C.int; Value : out Resource_Limit) return Interfaces.C.int
        with Import, Convention => C, External_Name => "getrlimit";
      function Set_Limit
        (Resource : Interfaces.C.int; Value : Resource_Limit) return Interfaces.C.int
        with Import, Convention => C, External_Name => "setrlimit";

      use type Interfaces.C.int;

      Usual : Resource_Limit;

      procedure Execute is
      begin
         T.DB.Execute ("SELECT 1");
      end Execute;

      procedure Leave_Open is
         Work  : SQL.Transaction (T.DB'Access) with Unreferenced;
         Query : Statement;
      begin
         T.DB.Execute ("INSERT INTO t VALUES (3)");
         Prepare (Query, T.DB, "SELECT x FROM t");
         Query.Set_Streamed;
         Assert (Query.Step, "a row");
         Assert
           (Set_Limit (Open_Files, (Soft => 3, Hard => Usual.Hard)) = 0, "the limit is lowered");
         --  The statement must be closed, and the transaction rolled back
      end Leave_Open;

      procedure Restore is
      begin
         Assert (Set_Limit (Open_Files, Usual) = 0, "the usual limit is restored");
      end Restore;
   begin
      Assert (Get_Limit (Open_Files, Usual) = 0, "the usual limit is read");
      T.DB.Set_Wait_Limit (Long_Time);
      begin
         Leave_Open;
         Is_Refused (Execute'Access, "53000");
         Restore;
         Assert (T.DB.In_Autocommit, "no transaction is open");
         Answers (T.DB, "SELECT count(*) FROM t", "2");
         Assert
           (Set_Limit (Open_Files, (Soft => 3, Hard => Usual.Hard)) = 0, "the limit is lowered");
         T.DB.Close;
         Restore;
      exception
         when others =>
            Restore;
            raise;
      end;
      Assert (not T.DB.Is_Open, "closed");
   end No_Descriptors;

   function Sleep (Seconds : String) return String is
     (if Dialect.Name.all = "PostgreSQL" then "SELECT pg_sleep(" & Seconds & ")"
      else "SELECT sleep(" & Seconds & "), 1 FROM dual");

   --  The statement's server does not accept the cancel request

   procedure Cancelling (T : in out Fixture) is
      pragma Unreferenced (T);

      procedure Act (Proxy : in out Silent_Proxies.Proxy) is

         DB          : aliased Connection;
         Was_In_Time : Boolean := False with Atomic;

         --  Waits for the server's session, which ends soon after the proxy

         procedure Wait is
         begin
            DB.Execute (Sleep ("3"));
         end Wait;

         procedure Cancel is
         begin
            loop
               DB.Cancel;   --  no operation is in progress yet
               delay 0.01;
            end loop;
         end Cancel;

         task Other is
            entry Begin_Work;
         end Other;

         task body Other is
            Start : Ada.Real_Time.Time;
         begin
            accept Begin_Work;
            Silent_Proxies.Silence (Proxy, New_Ones => True);
            Start := Ada.Real_Time.Clock;
            Is_Refused (Cancel'Access, "08001");
            Was_In_Time := Since (Start) < 2 * Long_Time;
            Silent_Proxies.Stop (Proxy);
         exception
            when others =>
               Silent_Proxies.Stop (Proxy);
               raise;
         end Other;
      begin
         Connect (DB);
         Other.Begin_Work;
         Is_Refused (Wait'Access, "08006");
         Assert (Was_In_Time, "the cancellation is rejected in time");
         DB.Close;
      end Act;
   begin
      Silent_Proxies.With_Proxy (Dialect.Variable.all, Act'Access);
   end Cancelling;

   --  The request is in transit when Cancel times out, and reaches the server much later: it stops
   --  nothing, because the connection is lost by then

   Cancel_Request : constant String :=
     (if Dialect.Name.all = "PostgreSQL"
      then [Character'Val (4), Character'Val (16#D2#), Character'Val (16#16#),
            Character'Val (16#2E#)]
      else "KILL QUERY");

   --  Gets a lock that only one session has at a time

   Lock : constant String :=
     (if Dialect.Name.all = "PostgreSQL" then "SELECT pg_advisory_lock(4711)"
      else "SELECT get_lock('cancelled', 600)");

   type Duration_List is array (Positive range <>) of Duration;

   procedure Cancel_With_Request (Hangs_Up : Boolean) is

      procedure Act (Proxy : in out Silent_Proxies.Proxy) is

         DB, Locking : aliased Connection;

         procedure Cancel is
         begin
            DB.Cancel;
         end Cancel;

         task Other is
            entry Begin_Work;
            entry End_Work;
         end Other;

         task body Other is
         begin
            accept Begin_Work;
            while not SQL.Held_Cancels.Has_Target (DB) loop
               delay 0.001;
            end loop;
            --  The limit of Cancel alone: the statement has begun. On a busy machine, a short limit
            --  may pass before the request is sent.
            for Each of Duration_List'(Limit, 10 * Limit, 100 * Limit) loop
               DB.Set_Wait_Limit (Each);
               Is_Refused (Cancel'Access, "08001");
               exit when Silent_Proxies.Has_Held (Proxy);
            end loop;
            Locking.Close;  --  ends the statement
            select
               accept End_Work;
            or
               terminate;
            end select;
         exception
            when others =>
               Locking.Close;
               raise;
         end Other;

         procedure Execute_One is
         begin
            DB.Execute (Sleep ("0.4"));
         end Execute_One;

         procedure Execute is
         begin
            DB.Execute (Lock);
            Other.End_Work;
            Silent_Proxies.Release (Proxy);
            Execute_One;
         end Execute;
      begin
         Silent_Proxies.Hold (Proxy, Cancel_Request, Hangs_Up);
         Connect (Locking);
         Locking.Execute (Lock);
         Connect (DB);
         Other.Begin_Work;
         Is_Refused (Execute'Access, "08006", "Cancel");
         Assert (not DB.Is_Connected, "lost");
         Is_Refused (Execute_One'Access, "08006");
         DB.Close;
         Connect (DB);
         Assert (DB.Is_Connected, "connected");
         Answers (DB, "SELECT 1", "1");
         DB.Close;
      end Act;
   begin
      Silent_Proxies.With_Proxy (Dialect.Variable.all, Act'Access);
   end Cancel_With_Request;

   procedure Unknown_Cancel (T : in out Fixture) is
      pragma Unreferenced (T);
   begin
      Cancel_With_Request (Hangs_Up => False);
   end Unknown_Cancel;

   --  libpq treats a closed connection as the server's response

   procedure Broken_Cancel (T : in out Fixture) is
      pragma Unreferenced (T);
   begin
      if Dialect.Name.all /= "PostgreSQL" then
         Cancel_With_Request (Hangs_Up => True);
      end if;
   end Broken_Cancel;

   --  The server is stopped when the cancel request arrives. In PostgreSQL, another process accepts
   --  the request, and the session stops the statement when it continues. MariaDB accepts nothing,
   --  and nothing was sent.

   procedure Stopped_Server (T : in out Fixture) is

      function Process return Interfaces.C.int is
         File  : Ada.Text_IO.File_Type;
         Query : Statement;
      begin
         Prepare_Client_Side
           (Query, T.DB,
            (if Dialect.Name.all = "PostgreSQL" then "SELECT pg_backend_pid()"
             else "SELECT @@pid_file"));
         Assert (Query.Step, "a row");
         if Dialect.Name.all = "PostgreSQL" then
            return Interfaces.C.int (Query.As_Integer_64 (1));
         end if;
         Ada.Text_IO.Open (File, Ada.Text_IO.In_File, Query.As_Text (1));
         return Result : constant Interfaces.C.int :=
           Interfaces.C.int'Value (Ada.Text_IO.Get_Line (File))
         do
            Ada.Text_IO.Close (File);
         end return;
      end Process;

      Server : constant Interfaces.C.int := Process;

      --  Returns True if the server runs on this machine. A process with the same ID as a remote
      --  server's must not be stopped.

      function Is_Here return Boolean is
         use Ada.Text_IO;
         File : File_Type;
      begin
         Open
           (File, In_File,
            "/proc/" & Ada.Strings.Fixed.Trim (Server'Image, Ada.Strings.Left) & "/comm");
         return Result : constant Boolean :=
           Get_Line (File) in "postgres" | "mariadbd" | "mysqld"
         do
            Close (File);
         end return;
      exception
         when Name_Error => return False;
      end Is_Here;

      function Send_Signal
        (Process, Signal : Interfaces.C.int) return Interfaces.C.int
        with Import, Convention => C, External_Name => "kill";

      Signal_Continue : constant := 18;
      Signal_Stop     : constant := 19;
      --  Signal numbers on Linux

      Ignored : Interfaces.C.int;

      procedure Cancel is
      begin
         T.DB.Cancel;
      end Cancel;

      procedure Execute is
      begin
         T.DB.Execute (Sleep (if Dialect.Name.all = "PostgreSQL" then "300" else "10"));
      end Execute;

      task Other is
         entry Begin_Work;
         entry End_Work;
      end Other;

      --  A request that arrives before its statement stops nothing

      procedure Await_Statement is
         Sight : Connection;
         Query : Statement;
      begin
         Connect (Sight);
         Prepare_Client_Side
           (Query, Sight,
            (if Dialect.Name.all = "PostgreSQL"
             then "SELECT 1 FROM pg_stat_activity WHERE state = 'active' AND pid =" & Server'Image
             else "SELECT 1 FROM information_schema.processlist WHERE state = 'User sleep'"));
         while not Query.Step loop
            delay 0.001;
         end loop;
      end Await_Statement;

      task body Other is
      begin
         select
            accept Begin_Work;
         or
            terminate;
         end select;
         Await_Statement;
         T.DB.Set_Wait_Limit (Limit);  --  of Cancel alone: the statement has begun
         Ignored := Send_Signal (Server, Signal_Stop);
         begin
            if Dialect.Name.all = "PostgreSQL" then
               Cancel;
            else
               Is_Refused (Cancel'Access, "08001");
            end if;
         exception
            when others =>
               Ignored := Send_Signal (Server, Signal_Continue);
               raise;
         end;
         Ignored := Send_Signal (Server, Signal_Continue);
         select
            accept End_Work;
         or
            terminate;
         end select;
      end Other;
   begin
      if Is_Here then
         Other.Begin_Work;
         if Dialect.Name.all = "PostgreSQL" then
            Is_Refused (Execute'Access, "57014");
         else
            Execute;
         end if;
         Other.End_Work;
         T.DB.Set_Wait_Limit (0.0);
         T.DB.Execute (Sleep ("0.4"));
         Assert (T.DB.Is_Connected, "connected");
      end if;
   end Stopped_Server;

   --  A late Cancel does not stop statements that began after the statement that it was intended to
   --  stop

   procedure Late_Cancel (T : in out Fixture) is

      Stops   : Boolean := False with Atomic;
      May_Act : Boolean := False with Atomic;
      Calls   : Natural := 0 with Atomic;

      task Other;
      task body Other is
      begin
         while not Stops loop
            if May_Act then
               T.DB.Cancel;
               Calls := Calls + 1;
            end if;
            delay 0.0;
         end loop;
      end Other;

      Stopped : Natural := 0;
   begin
      for Time in 1 .. 10_000 loop
         exit when Time > 200 and then Calls > 0;
         May_Act := True;
         begin
            T.DB.Execute (Sleep ("0.004"));
         exception
            when Error : SQL.SQL_Error =>
               Assert (SQL.State_Of (Error), "57014", SQL.Message_Of (Error));
               Stopped := Stopped + 1;
         end;
         May_Act := False;
         Answers (T.DB, "SELECT count(*) FROM t", "2");
      end loop;
      Stops := True;
      Assert (Calls > 0, "no task canceled");
   exception
      when others =>
         Stops := True;
         raise;
   end Late_Cancel;

   --  A lease ends in time although the Cancel of its connection does not, and the next lease gets
   --  another session, which that Cancel does not affect

   procedure Prepare_On
     (Self : in out Statement; On : in out Connection'Class; Text : SQL.UTF_8_String) is
   begin
      Prepare (Self, Connection (On), Text);
   end Prepare_On;

   package Pools is new Appserver.SQL.Pools
     (Connection, Statement, Connect, Prepare_On, Validation_Timeout => Limit);

   procedure Lease_Behind_Cancel (T : in out Fixture) is
      pragma Unreferenced (T);

      function Session (Held : Pools.Lease) return SQL.Integer_64 is
         Query : Statement;
      begin
         Prepare_Client_Side (Query, Held.DB, Dialect.Id.all);
         Assert (Query.Step, "a row");
         return Query.As_Integer_64 (1);
      end Session;

      procedure Act (Proxy : in out Silent_Proxies.Proxy) is

         Pool    : aliased Pools.Pool (1);
         Held    : Pools.Lease (Pool'Access);
         Query   : Statement;
         Id      : SQL.Integer_64;
         Is_Over : Boolean := False with Atomic;

         task Other is
            entry Begin_Work;
         end Other;

         task body Other is
         begin
            select
               accept Begin_Work;
            or
               terminate;
            end select;
            Held.DB.Cancel;
            Is_Over := True;
         exception
            when SQL.SQL_Error => Is_Over := True;
         end Other;
      begin
         Silent_Proxies.Hold (Proxy, Cancel_Request, Hangs_Up => False);
         Held.Get (Timeout => Long_Time);
         Id := Session (Held);
         Held.DB.Set_Wait_Limit (3.0 * Long_Time);
         Prepare (Query, Held.DB, "SELECT x FROM t ORDER BY x");
         Query.Set_Streamed;
         Assert (Query.Step, "a row");
         Other.Begin_Work;
         while not (Silent_Proxies.Has_Held (Proxy) or else Is_Over) loop
            delay 0.001;
         end loop;
         Held.Release;
         Assert (not Is_Over, "the lease waited for the Cancel");
         Assert (Pool.Statistics.Open = 0 and then Pool.Statistics.In_Use = 0, "closed");
         Held.Get (Timeout => Long_Time);
         Assert (not Is_Over, "the next lease waited for the Cancel");
         Held.DB.Set_Wait_Limit (0.0);
         Assert (Session (Held) /= Id, "the lease has another session");
         Silent_Proxies.Release (Proxy);
         while not Is_Over loop
            Held.DB.Execute (Sleep ("0.1"));
         end loop;
         Held.DB.Execute (Sleep ("0.1"));
         Held.Release;
         Assert (Pool.Statistics.Open = 1, "the connection is not lost");
      end Act;
   begin
      Silent_Proxies.With_Proxy (Dialect.Variable.all, Act'Access);
   end Lease_Behind_Cancel;

   package Caller is new AUnit.Test_Caller (Fixture);

   function Suite return AUnit.Test_Suites.Access_Test_Suite is
      Result : constant AUnit.Test_Suites.Access_Test_Suite := AUnit.Test_Suites.New_Suite;

      procedure Add (Name : String; Test : Caller.Test_Method) is
      begin
         Result.Add_Test (Caller.Create (Dialect.Name.all & ": a silent server: " & Name, Test));
      end Add;
   begin
      Add ("each operation", Operations'Access);
      Add ("closing while the server does not respond", Closing'Access);
      Add ("opening", Opening'Access);
      Add ("an unknown host", Unknown_Host'Access);
      Add ("limits that are not exceeded", In_Time'Access);
      Add ("the program's own time is not limited", Own_Time'Access);
      Add ("a statement after a cancellation", Behind_Cancel'Access);
      Add ("a cleanup after a cancellation", Cleanup_Behind_Cancel'Access);
      Add ("a cancellation during the close", Cancel_In_Close'Access);
      Add ("a cancellation at the end of the connection", Cancel_At_End'Access);
      Add ("no file descriptor for a limit", No_Descriptors'Access);
      Add ("canceling", Cancelling'Access);
      Add ("a late cancellation", Late_Cancel'Access);
      Add ("a cancellation that arrives after its timeout", Unknown_Cancel'Access);
      Add ("a cancellation whose connection breaks", Broken_Cancel'Access);
      Add ("a cancellation while the server is stopped", Stopped_Server'Access);
      Add ("a cancellation in progress when its lease ends",
           Lease_Behind_Cancel'Access);
      return Result;
   end Suite;

end Wait_Limit_Tests;
