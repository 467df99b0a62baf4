--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

with Ada.Command_Line;
with Ada.Environment_Variables;
with Ada.Exceptions;
with Ada.Strings.Fixed;
with Ada.Text_IO;
with Appserver.Retry.Transactions;
with Appserver.SQL.Injected_Errors;
with AUnit.Assertions;
with AUnit.Test_Caller;
with AUnit.Test_Fixtures;
with Checks;
with Dice;

package body Retried_Fault_Tests is

   use Ada.Strings.Unbounded;
   use AUnit.Assertions;
   use Checks;
   use Database;
   use type Ada.Exceptions.Exception_Id;
   use type SQL.Integer_64;

   package Retry renames Appserver.Retry;

   type Fixture is new AUnit.Test_Fixtures.Test_Fixture with record
      DB       : aliased Kept_Connection;
      --  The connection of the outer transaction
      Other    : aliased SQLite.Connection;
      --  The connection of nested transactions
      DB_Sight : aliased Connection;
      --  Another connection, to check the effects
   end record;

   overriding procedure Set_Up (T : in out Fixture);
   overriding procedure Tear_Down (T : in out Fixture);

   Without_Disk : constant String := "PRAGMA synchronous = off";

   procedure Set_Fast (DB : in out Connection) is
   begin
      if Dialect.Name.all = "SQLite" then
         DB.Execute (Without_Disk);
      end if;
   end Set_Fast;

   overriding function Is_Open (Self : Kept_Connection) return Boolean is
     (not Self.Is_Shut and then Connection (Self).Is_Open);

   procedure End_Session (Self : in out Kept_Connection) is
   begin
      Connection (Self).Close;
      Self.Is_Shut := False;
   end End_Session;

   Closes_Of_Session : constant := 16;

   overriding procedure Close (Self : in out Kept_Connection) is
   begin
      if Self.Is_Open then
         Self.Closes := (Self.Closes + 1) mod Closes_Of_Session;
         if Self.Closes = 0 then
            End_Session (Self);
            return;
         elsif not Self.In_Autocommit then
            Self.Execute ("ROLLBACK");
         end if;
         Self.Is_Shut := True;
      end if;
   end Close;

   Settings_Query : constant String :=
     (if Dialect.Name.all = "PostgreSQL"
      then "SELECT current_setting('default_transaction_isolation') || ' '"
           & " || current_setting('default_transaction_read_only')"
      elsif Dialect.Name.all = "MariaDB"
      then "SELECT concat(@@session.tx_isolation, ' ', @@session.tx_read_only)"
      else "PRAGMA query_only");

   function Settings_Of (DB : in out Connection) return Unbounded_String is
      Query : Statement;
   begin
      Prepare_Client_Side (Query, DB, Settings_Query);
      Assert (Query.Step, "a row of: " & Settings_Query);
      return To_Unbounded_String (Query.As_Text (1));
   end Settings_Of;

   Leak : Unbounded_String;
   --  The state of an earlier use that a reused session had. It is stored here, since a call could
   --  handle an exception.

   procedure Connect_Fast (DB : in out Kept_Connection) is
   begin
      if not DB.Is_Shut then
         Connect (Connection (DB));
         Set_Fast (Connection (DB));
         DB.Settings := Settings_Of (Connection (DB));
         return;
      end if;
      DB.Is_Shut := False;
      if not DB.In_Autocommit then
         Leak := To_Unbounded_String ("an open transaction");
      elsif Settings_Of (Connection (DB)) /= DB.Settings then
         Leak := Settings_Of (Connection (DB));
      end if;
   end Connect_Fast;

   Other_File : Unbounded_String;

   procedure Connect_Other (DB : in out SQLite.Connection) is
   begin
      DB.Open (To_String (Other_File));
      DB.Execute (Without_Disk);
   end Connect_Other;

   Key_Columns : constant String := "(id varchar(255) primary key, result text)";

   overriding procedure Set_Up (T : in out Fixture) is
   begin
      Open (T.DB_Sight);
      Set_Fast (T.DB_Sight);
      T.DB_Sight.Execute ("CREATE TABLE t (id integer primary key, x integer)");
      T.DB_Sight.Execute ("INSERT INTO t VALUES (1, 0), (2, 0)");
      T.DB_Sight.Execute ("DROP TABLE IF EXISTS retry_key");
      T.DB_Sight.Execute ("CREATE TABLE retry_key " & Key_Columns);
      Leak := Null_Unbounded_String;
      Connect_Fast (T.DB);
      Other_File := To_Unbounded_String (File_Name ("other.db"));
      Connect_Other (T.Other);
      T.Other.Execute ("CREATE TABLE u (id integer primary key, x integer)");
      T.Other.Execute ("INSERT INTO u VALUES (1, 0), (2, 0)");
      T.Other.Execute ("CREATE TABLE retry_key " & Key_Columns);
   end Set_Up;

   overriding procedure Tear_Down (T : in out Fixture) is
   begin
      End_Session (T.DB);
      T.DB_Sight.Close;
      T.Other.Close;
   end Tear_Down;

   ------------
   -- Points --
   ------------

   --  A call passes points: before each statement, and before and after each commit. At each point,
   --  the call may fail.

   type Failure is (Nothing, Lost, Deadlock, Permanent);

   type Plan is record
      Is_Random : Boolean := False;
      Point     : Natural := 0;
      --  The point at which Kind happens, unless the schedule is random
      Kind      : Failure := Nothing;
   end record;

   Current : Plan;
   Passed  : Natural;
   --  The number of points since the call began

   Max_Faults : constant := 4;
   Faults     : Natural;

   function Next_Failure return Failure is
   begin
      Passed := Passed + 1;
      if not Current.Is_Random then
         return (if Passed = Current.Point then Current.Kind else Nothing);
      elsif Faults < Max_Faults and then Dice.Next (4) = 0 then
         Faults := Faults + 1;
         return Failure'Val (1 + Dice.Next (3));
      else
         return Nothing;
      end if;
   end Next_Failure;

   procedure Pass is
   begin
      case Next_Failure is
         when Nothing   => null;
         when Lost      => SQL.Injected_Errors.Drop_Connection;
         when Deadlock  => SQL.Injected_Errors.Fail ("40P01");
         when Permanent => SQL.Injected_Errors.Fail ("23514");
      end case;
   end Pass;

   --  After a commit, the only possible failure is that the response is lost

   procedure Pass_Committed is
   begin
      if Next_Failure /= Nothing then
         SQL.Injected_Errors.Drop_Connection;
      end if;
   end Pass_Committed;

   package Outer_Calls is new Retry.Transactions
     (Kept_Connection, Connect_Fast, Before_Commit => Pass, After_Commit => Pass_Committed);

   package Inner_Calls is new Retry.Transactions
     (SQLite.Connection, Connect_Other, Before_Commit => Pass, After_Commit => Pass_Committed);

   ----------------
   -- Situations --
   ----------------

   --  The letters of a program are steps of its transaction. "a" is a statement of this
   --  transaction. The others are nested transactions: "p" on the same connection, as a part of the
   --  outer transaction; "b" on another connection; "k" with a key. After an upper-case letter, the
   --  program handles all exceptions.

   type Mode is (Plain, Keyed, By_Hand);
   --  By_Hand means that the operation itself begins and ends its transaction

   By : constant Retry.Policy :=
     (Attempts => 3, Backoffs => [others => (0.0, 0.0)], others => <>);

   type Effects is record
      Outcome          : Unbounded_String;
      Own, Part        : SQL.Integer_64;
      Other, Other_Key : SQL.Integer_64;
   end record;

   procedure Call (T : in out Fixture; Kind : Mode; Program : String) is

      Position : Positive;

      procedure Change_Part (DB : in out Kept_Connection) is
      begin
         Pass;
         DB.Execute ("UPDATE t SET x = x + 1 WHERE id = 2");
      end Change_Part;

      procedure Change_Other (DB : in out SQLite.Connection) is
      begin
         Pass;
         DB.Execute ("UPDATE u SET x = x + 1 WHERE id = 1");
      end Change_Other;

      procedure Change_Other_Once (DB : in out SQLite.Connection) is
      begin
         Pass;
         DB.Execute ("UPDATE u SET x = x + 1 WHERE id = 2");
      end Change_Other_Once;

      procedure Step (DB : in out Kept_Connection; Letter : Character) is
      begin
         case Letter is
            when 'a' =>
               Pass;
               DB.Execute ("UPDATE t SET x = x + 1 WHERE id = 1");
            when 'p' | 'P' =>
               Outer_Calls.Run (By, T.DB, Change_Part'Access);
            when 'b' | 'B' =>
               Inner_Calls.Run (By, T.Other, Change_Other'Access);
            when others =>
               Inner_Calls.Run_Once
                 (By, T.Other, "step" & Position'Image, Change_Other_Once'Access);
         end case;
      exception
         when others =>
            if Letter not in 'P' | 'B' | 'K' then
               raise;
            end if;
      end Step;

      procedure Work (DB : in out Kept_Connection) is
      begin
         for Index in Program'Range loop
            Position := Index;
            Step (DB, Program (Index));
         end loop;
      end Work;

      procedure Work_By_Hand is
      begin
         if not T.DB.Is_Open then
            Connect_Fast (T.DB);
         end if;
         declare
            Scope : SQL.Transaction (T.DB'Access);
         begin
            Work (T.DB);
            Pass;
            Scope.Commit;
            Pass_Committed;
         end;
      end Work_By_Hand;
   begin
      case Kind is
         when Plain   => Outer_Calls.Run (By, T.DB, Work'Access);
         when Keyed   => Outer_Calls.Run_Once (By, T.DB, "call", Work'Access);
         when By_Hand => Retry.Run (By, Work_By_Hand'Access);
      end case;
   end Call;

   function Number (DB : in out SQL.Connection'Class; Query : String) return SQL.Integer_64 is
      Cursor : SQL.Statement'Class := DB.Prepare_Client_Side (Query);
   begin
      Assert (Cursor.Step, "a row of: " & Query);
      return Cursor.As_Integer_64 (1);
   end Number;

   function Outcome_Of (Error : Ada.Exceptions.Exception_Occurrence) return String is
     (case Retry.Fault_Of (Error) is
         when Retry.Outcome_Unknown => "unknown",
         when Retry.Connection_Lost => "lost",
         when Retry.Deadlock        => "deadlock",
         when others                =>
           (if Ada.Exceptions.Exception_Identity (Error) = SQL.SQL_Error'Identity
            then "permanent"
            else Ada.Exceptions.Exception_Information (Error)));

   function Effects_Of (T : in out Fixture; Kind : Mode; Program : String) return Effects is
      Outcome : Unbounded_String := To_Unbounded_String ("done");
   begin
      begin
         Passed := 0;
         Faults := 0;
         Call (T, Kind, Program);
      exception
         when Error : others =>
            Outcome := To_Unbounded_String (Outcome_Of (Error));
      end;
      Assert (Leak = "", "a session was reused with " & To_String (Leak));
      if not T.Other.Is_Open then
         Connect_Other (T.Other);
      end if;
      return
        (Outcome   => Outcome,
         Own       => Number (T.DB_Sight, "SELECT x FROM t WHERE id = 1"),
         Part      => Number (T.DB_Sight, "SELECT x FROM t WHERE id = 2"),
         Other     => Number (T.Other, "SELECT x FROM u WHERE id = 1"),
         Other_Key => Number (T.Other, "SELECT x FROM u WHERE id = 2"));
   end Effects_Of;

   procedure Clear (T : in out Fixture) is
   begin
      T.DB_Sight.Execute ("UPDATE t SET x = 0");
      T.DB_Sight.Execute ("DELETE FROM retry_key");
      T.Other.Execute ("UPDATE u SET x = 0");
      T.Other.Execute ("DELETE FROM retry_key");
   end Clear;

   function Image (Value : SQL.Integer_64) return String is
     (Ada.Strings.Fixed.Trim (Value'Image, Ada.Strings.Left));

   function Image (Found : Effects) return String is
     (To_String (Found.Outcome)
      & " " & Image (Found.Own) & " " & Image (Found.Part)
      & " " & Image (Found.Other) & " " & Image (Found.Other_Key));

   ------------
   -- Checks --
   ------------

   function Count (Program : String; Letter : Character) return SQL.Integer_64 is
     (SQL.Integer_64 (Ada.Strings.Fixed.Count (Program, [1 => Letter])));

   --  No effect may occur twice. A successful call must have all of its effects. A call that
   --  reports a failure must have none of its own effects.

   procedure Check_Balance (Kind : Mode; Program : String; Found : Effects; Words : String) is

      procedure Is_Right (Value : SQL.Integer_64; Letter, Handled_Letter : Character; Name : String)
      is
         Sure    : constant SQL.Integer_64 := Count (Program, Letter);
         Handled : constant SQL.Integer_64 := Count (Program, Handled_Letter);
      begin
         Assert (Value <= Sure + Handled, Name & " took effect twice: " & Words);
         Assert
           (Found.Outcome /= "done" or else Value >= Sure, Name & " did not take effect: " & Words);
      end Is_Right;
   begin
      Is_Right (Found.Own, 'a', 'A', "the program's own effect");
      Is_Right (Found.Part, 'p', 'P', "the effect of a part");
      Is_Right (Found.Other_Key, 'k', 'K', "the effect of a call with a key");
      if Kind /= By_Hand then
         Is_Right (Found.Other, 'b', 'B', "the effect of a nested call");
      end if;
      if Found.Outcome not in To_Unbounded_String ("done") | To_Unbounded_String ("unknown") then
         Assert (Found.Own + Found.Part = 0, "a failed call took effect: " & Words);
      end if;
   end Check_Balance;

   --  A call that is repeated with the same key determines the outcome of the first call

   procedure Check_Again (T : in out Fixture; Program : String; Words : String) is
   begin
      Current := (others => <>);
      declare
         Found : constant Effects := Effects_Of (T, Keyed, Program);
      begin
         Assert (To_String (Found.Outcome), "done", "again: " & Words);
         Check_Balance (Keyed, Program, (Found with delta Other => Count (Program, 'b')),
                        "again: " & Words);
      end;
   end Check_Again;

   function Next_Word (Line : String; From : in out Positive) return String is
      First : constant Positive := From;
      Blank : constant Natural := Ada.Strings.Fixed.Index (Line, " ", First);
   begin
      From := Blank + 1;
      return Line (First .. Blank - 1);
   end Next_Word;

   function File_Of_Situations return String is
     (if Ada.Command_Line.Argument_Count > 1 then Ada.Command_Line.Argument (2)
      else "tests/shared/retry_situations.txt");

   procedure Check_Situation (T : in out Fixture; Line : String) is
      From    : Positive := Line'First;
      Kind    : constant Mode := Mode'Value (Next_Word (Line, From));
      Program : constant String := Next_Word (Line, From);
      Point   : constant Natural := Natural'Value (Next_Word (Line, From));
   begin
      Current := (False, Point, Failure'Value (Next_Word (Line, From)));
      Clear (T);
      declare
         Found    : constant Effects := Effects_Of (T, Kind, Program);
         Expected : constant String := Line (From .. Line'Last);
      begin
         Check_Balance (Kind, Program, Found, Line);
         Assert (Image (Found), Expected, Line);
         if Kind = Keyed then
            Check_Again (T, Program, Line);
         end if;
      end;
   end Check_Situation;

   procedure Situations (T : in out Fixture) is
      use Ada.Text_IO;

      File  : File_Type;
      Lines : Natural := 0;
   begin
      Open (File, In_File, File_Of_Situations);
      while not End_Of_File (File) loop
         declare
            Line : constant String := Get_Line (File);
         begin
            if Line /= "" and then Line (Line'First) /= '#' then
               Lines := Lines + 1;
               Check_Situation (T, Line);
            end if;
         end;
      end loop;
      Close (File);
      Assert (Lines > 100, "situations");
   end Situations;

   Letters : constant String := "aapPbBkK";
   Alone   : constant String := "aakK";
   --  By hand: nested transactions without a key may take effect again

   function Any_Program (Kind : Mode) return String is
   begin
      return Program : String (1 .. 1 + Dice.Next (4)) do
         for Letter of Program loop
            Letter := (if Kind = By_Hand then Alone (1 + Dice.Next (Alone'Length))
                       else Letters (1 + Dice.Next (Letters'Length)));
         end loop;
      end return;
   end Any_Program;

   procedure Check_Schedule (T : in out Fixture; Schedule : Positive) is
      Kind    : constant Mode   := Mode'Val (Dice.Next (3));
      Program : constant String := Any_Program (Kind);
      Words   : constant String :=
        "schedule" & Schedule'Image & ": " & Kind'Image & " " & Program & " ";
      Found   : Effects;
   begin
      Clear (T);
      Current := (Is_Random => True, others => <>);
      Found   := Effects_Of (T, Kind, Program);
      Check_Balance (Kind, Program, Found, Words & Image (Found));
      if Kind = Keyed and then Count (Program, 'b') + Count (Program, 'B') = 0 then
         Check_Again (T, Program, Words & Image (Found));
      end if;
   end Check_Schedule;

   procedure Random_Schedules (T : in out Fixture) is
      use Ada.Environment_Variables;
   begin
      for Schedule in 1 .. Positive'Value (Value ("LAB_SCHEDULES", Schedules'Image)) loop
         Check_Schedule (T, Schedule);
      end loop;
   end Random_Schedules;

   --  The same message is raised by a transaction that was certainly not committed, after a commit
   --  that may have succeeded: the exception does not show which of the two raised it

   procedure Lost_While_Handled (T : in out Fixture) is

      procedure Fail_Inside (DB : in out SQLite.Connection) is
         pragma Unreferenced (DB);
      begin
         SQL.Injected_Errors.Drop_Connection;
      end Fail_Inside;

      procedure Record_Failure is
      begin
         Inner_Calls.Run (By, T.Other, Fail_Inside'Access);
      exception
         when SQL.SQL_Error =>
            null;
      end Record_Failure;

      procedure Operation is
      begin
         T.DB.Execute ("UPDATE t SET x = x + 1 WHERE id = 1");
         SQL.Injected_Errors.Drop_Connection;
      exception
         when SQL.SQL_Error =>
            Record_Failure;
            raise;
      end Operation;
   begin
      Retry.Run (By, Operation'Access);
      Assert (False, "no exception");
   exception
      when Retry.Outcome_Unknown_Error =>
         Answers (T.DB_Sight, "SELECT x FROM t WHERE id = 1", "1");
   end Lost_While_Handled;

   package Caller is new AUnit.Test_Caller (Fixture);

   function Suite return AUnit.Test_Suites.Access_Test_Suite is
      Result : constant AUnit.Test_Suites.Access_Test_Suite := AUnit.Test_Suites.New_Suite;

      procedure Add (Text : String; Test : Caller.Test_Method) is
      begin
         Result.Add_Test (Caller.Create (Dialect.Name.all & ", retry: " & Text, Test));
      end Add;
   begin
      Add ("faults at each point", Situations'Access);
      Add ("lost again while an error is handled", Lost_While_Handled'Access);
      Add ("random schedules of faults", Random_Schedules'Access);
      return Result;
   end Suite;

end Retried_Fault_Tests;
