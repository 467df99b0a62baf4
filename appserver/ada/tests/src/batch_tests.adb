--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

with Ada.Streams;
with Appserver.SQL.Batches;
with AUnit.Assertions;
with AUnit.Test_Caller;
with AUnit.Test_Fixtures;
with Checks;

package body Batch_Tests is

   use AUnit.Assertions;
   use Checks;
   use Database;
   use type Ada.Streams.Stream_Element_Offset;
   use type SQL.Blob;
   use type SQL.Integer_64;

   Halted : exception;
   --  An exception raised by the program's own code

   type Fixture is new AUnit.Test_Fixtures.Test_Fixture with record
      DB     : aliased Connection;
      Insert : Statement;
      Query  : Statement;
   end record;

   overriding procedure Set_Up (T : in out Fixture);
   overriding procedure Tear_Down (T : in out Fixture);

   Long_Text : constant String :=
     (if Dialect.Long_Text.all = "" then "text" else Dialect.Long_Text.all);

   overriding procedure Set_Up (T : in out Fixture) is
   begin
      Open (T.DB);
      T.DB.Execute
        ("CREATE TABLE t (id integer PRIMARY KEY, x " & Long_Text
         & ", b " & Dialect.Blob.all & ")");
   end Set_Up;

   overriding procedure Tear_Down (T : in out Fixture) is
   begin
      T.DB.Close;
   end Tear_Down;

   type Way is (Prepared, Used);

   procedure Begin_Insert
     (T : in out Fixture; By : Way; Text : String := "INSERT INTO t (id, x) VALUES (?, ?)") is
   begin
      case By is
         when Prepared => Prepare (T.Insert, T.DB, Text);
         when Used     => Prepare_Client_Side (T.Insert, T.DB, Text);
      end case;
   end Begin_Insert;

   procedure Bind_Number (To : in out SQL.Statement'Class; Element : Positive) is
   begin
      To.Bind (1, SQL.Integer_64 (Element));
      To.Bind (2, "text" & Element'Image);
   end Bind_Number;

   Count : constant := 1_203;
   --  More than two round trips, and not an integral number of them

   procedure Has_Rows (T : in out Fixture; Number : Natural) is
   begin
      Prepare (T.Query, T.DB, "SELECT count(*) FROM t");
      Assert (T.Query.Step, "a row");
      Assert
        (T.Query.As_Integer_64 (1) = SQL.Integer_64 (Number),
         "rows:" & T.Query.As_Text (1) & " for" & Number'Image);
      T.Query.Close;
   end Has_Rows;

   -------------
   -- Batches --
   -------------

   procedure All_Executed (T : in out Fixture) is
      Counts : SQL.Count_List (1 .. Count);
      None   : SQL.Count_List (1 .. 0);
   begin
      for By in Way loop
         Begin_Insert (T, By);
         SQL.Batches.Execute (T.Insert, Bind_Number'Access, Counts);
         Assert ((for all C of Counts => C = 1), "each execution changed one row");
         Assert (T.DB.In_Autocommit, "the transaction of the batch has ended");
         Has_Rows (T, Count);
         SQL.Batches.Execute (T.Insert, Bind_Number'Access, None);
         T.DB.Execute ("DELETE FROM t");
      end loop;
   end All_Executed;

   --  Counts of zero, one and two rows

   procedure Counts_Reported (T : in out Fixture) is

      procedure Bind_Bound (To : in out SQL.Statement'Class; Element : Positive) is
      begin
         To.Bind (1, SQL.Integer_64 (Element - 1));
      end Bind_Bound;

      Counts  : SQL.Count_List (1 .. 3);
      Inserts : SQL.Count_List (1 .. 2);
   begin
      Begin_Insert (T, Prepared);
      SQL.Batches.Execute (T.Insert, Bind_Number'Access, Inserts);
      Begin_Insert (T, Prepared, "UPDATE t SET x = 'y' WHERE id <= ?");
      SQL.Batches.Execute (T.Insert, Bind_Bound'Access, Counts);
      Assert (Counts (1) = 0 and then Counts (2) = 1 and then Counts (3) = 2, "counts");
   end Counts_Reported;

   --  Counts of a text that returns rows

   procedure Returned_Counts (T : in out Fixture) is

      procedure Bind_Id (To : in out SQL.Statement'Class; Element : Positive) is
      begin
         To.Bind (1, SQL.Integer_64 (2 * Element));
      end Bind_Id;

      Counts : SQL.Count_List (1 .. 3);
   begin
      for By in Way loop
         T.DB.Execute ("DELETE FROM t");
         T.DB.Execute ("INSERT INTO t (id) VALUES (1), (2), (3), (5), (6)");
         Begin_Insert (T, By, "DELETE FROM t WHERE id = ? RETURNING id");
         SQL.Batches.Execute (T.Insert, Bind_Id'Access, Counts);
         Assert (Counts (1) = 1 and then Counts (2) = 0 and then Counts (3) = 1, "counts");
         Has_Rows (T, 3);
      end loop;
   end Returned_Counts;

   --  A batch may be sent as texts: the end of a statement's text does not end the batch

   procedure All_Texts (T : in out Fixture) is
      Counts : SQL.Count_List (1 .. Count);
      Insert : constant String := "INSERT INTO t (id, x) VALUES (?, ?)";

      procedure Inserts (Text : String) is
      begin
         for By in Way loop
            Begin_Insert (T, By, Text);
            SQL.Batches.Execute (T.Insert, Bind_Number'Access, Counts);
            Has_Rows (T, Count);
            T.DB.Execute ("DELETE FROM t");
         end loop;
      end Inserts;
   begin
      Inserts (Insert & ";");
      Inserts (Insert & " -- the end");
      Inserts (Insert & " /* ; */");
      Inserts (ASCII.LF & "  insert INTO t (id, x, b) VALUES (?, ?, NULL)");
      Inserts
        ("INSERT INTO t (id, x) VALUES (?, CASE WHEN ? = 'a;b''' THEN 'c' ELSE 'd' END)");
   end All_Texts;

   procedure Fails_At
     (T : in out Fixture; Element : SQL.Integer_64; Act : not null access procedure) is
   begin
      Act.all;
      Assert (False, "the batch succeeded, although element" & Element'Image & " is wrong");
   exception
      when Failure : SQL.SQL_Error =>
         declare
            Error : constant SQL.Error_Record := SQL.Error_Of (Failure);
         begin
            Assert (Error.Element = Element, Error.Element'Image & ": " & Error.Message);
         end;
         Assert (T.DB.Is_Connected, "connected");
   end Fails_At;

   procedure Undone (T : in out Fixture) is
      Wrong  : Positive;
      Counts : SQL.Count_List (1 .. Count);

      procedure Bind (To : in out SQL.Statement'Class; Element : Positive) is
      begin
         Bind_Number (To, (if Element = Wrong then 1_000_000 else Element));
      end Bind;

      procedure Act is
      begin
         SQL.Batches.Execute (T.Insert, Bind'Access, Counts);
      end Act;
   begin
      T.DB.Execute ("INSERT INTO t (id) VALUES (1000000)");
      for By in Way loop
         Begin_Insert (T, By);
         for Element in SQL.Integer_64 range 1 .. Count loop
            Wrong := Positive (Element);
            if Wrong in 1 | 2 | 500 | 501 | Count then
               Fails_At (T, Element, Act'Access);
               Assert (T.DB.In_Autocommit, "the transaction of the batch has ended");
               Has_Rows (T, 1);
            end if;
         end loop;
      end loop;
      --  Nested in the caller's transaction, which continues
      declare
         Work : SQL.Transaction (T.DB'Access);
      begin
         T.DB.Execute ("INSERT INTO t (id) VALUES (2000000)");
         Wrong := 700;
         Fails_At (T, 700, Act'Access);
         Has_Rows (T, 2);
         Work.Commit;
      end;
      Has_Rows (T, 2);
   end Undone;

   procedure Halts (T : in out Fixture) is
      Counts : SQL.Count_List (1 .. Count);

      procedure Bind (To : in out SQL.Statement'Class; Element : Positive) is
      begin
         if Element = 777 then
            raise Halted;
         end if;
         Bind_Number (To, Element);
      end Bind;
   begin
      for By in Way loop
         Begin_Insert (T, By);
         begin
            SQL.Batches.Execute (T.Insert, Bind'Access, Counts);
            Assert (False, "unreachable");
         exception
            when Halted => null;
         end;
         Has_Rows (T, 0);
      end loop;
   end Halts;

   procedure Misused (T : in out Fixture) is
      Late   : SQL.Count_List (2 .. 3);
      Counts : SQL.Count_List (1 .. 1);

      procedure Begin_With_2 is
      begin
         SQL.Batches.Execute (T.Insert, Bind_Number'Access, Late);
      end Begin_With_2;

      procedure Run_Closed is
      begin
         SQL.Batches.Execute (T.Query, Bind_Number'Access, Counts);
      end Run_Closed;
   begin
      Begin_Insert (T, Prepared);
      Is_Misuse (Begin_With_2'Access, "begin with 1");
      Is_Misuse (Run_Closed'Access, "not open");
   end Misused;

   -----------
   -- Loads --
   -----------

   procedure Load
     (T    : in out Fixture;
      Next : not null access function (Row : in out SQL.Statement'Class) return Boolean;
      Rows : SQL.Integer_64)
   is
      Loaded : SQL.Integer_64;
   begin
      SQL.Batches.Load (T.DB, "t", "id, x, b", Next, Loaded);
      Assert (Loaded = Rows, "rows:" & Loaded'Image);
   end Load;

   Million : constant := 2 ** 20;

   type Text_List is array (Positive range <>) of Test_Databases.Text_Reference;

   function "+" (Text : String) return Test_Databases.Text_Reference
     renames Test_Databases."+";

   Hostile : constant Text_List :=
     [+"", +"\", +"\\", +"\.", +"\N", +"a\", +[1 => ASCII.HT], +[1 => ASCII.LF],
      +(ASCII.LF & "\." & ASCII.LF), +(ASCII.CR & ASCII.LF), +"'", +"'); DROP TABLE t; --", +"""",
      +"NULL", +"?", +"$1", +[1 => ASCII.BS], +[1 => ASCII.SUB], +[1 => ASCII.DEL], +"\x41", +"%",
      +[1 .. Million => '\'], +[1 .. Million => 'x']];

   procedure Hostile_Values (T : in out Fixture) is
      Bytes : constant SQL.Blob (1 .. 256) :=
        [for I in Ada.Streams.Stream_Element_Offset range 1 .. 256 => SQL.Byte (I - 1)];
      I     : Natural := 0;

      function Next (Row : in out SQL.Statement'Class) return Boolean is
      begin
         I := I + 1;
         if I <= Hostile'Last then
            Row.Bind (1, SQL.Integer_64 (I));
            Row.Bind (2, Hostile (I).all);
            if I mod 2 = 0 then
               Row.Bind (3, Bytes);
            else
               Row.Bind_Null (3);
            end if;
         end if;
         return I <= Hostile'Last;
      end Next;
   begin
      Load (T, Next'Access, Hostile'Length);
      Prepare (T.Query, T.DB, "SELECT x, b FROM t ORDER BY id");
      for I in Hostile'Range loop
         Assert (T.Query.Step, "a row");
         Assert (T.Query.As_Text (1) = Hostile (I).all, "text" & I'Image);
         Assert
           ((if I mod 2 = 0 then T.Query.As_Blob (2) = Bytes else T.Query.Is_Null (2)),
            "blob" & I'Image);
      end loop;
   end Hostile_Values;

   procedure Hostile_Batch (T : in out Fixture) is

      Counts : SQL.Count_List (1 .. Hostile'Last + 1);

      procedure Bind (To : in out SQL.Statement'Class; Element : Positive) is
      begin
         To.Bind (1, SQL.Integer_64 (Element));
         if Element > Hostile'Last then
            To.Bind_Null (2);
         else
            To.Bind (2, Hostile (Element).all);
         end if;
      end Bind;

   begin
      for By in Way loop
         Begin_Insert (T, By);
         SQL.Batches.Execute (T.Insert, Bind'Access, Counts);
         Prepare (T.Query, T.DB, "SELECT x FROM t ORDER BY id");
         for Text of Hostile loop
            Assert (T.Query.Step, "a row");
            Assert (T.Query.As_Text (1) = Text.all, "the text is unchanged");
         end loop;
         Assert (T.Query.Step and then T.Query.Is_Null (1), "null");
         T.Query.Close;
         T.DB.Execute ("DELETE FROM t");
      end loop;
   end Hostile_Batch;

   --  If the database cannot store a value in a text, the whole load is undone

   procedure Refused_Values (T : in out Fixture) is

      procedure Is_Refused_At_5 (Text : String) is
         I : Natural := 0;

         function Next (Row : in out SQL.Statement'Class) return Boolean is
         begin
            I := I + 1;
            Row.Bind (1, SQL.Integer_64 (I));
            Row.Bind (2, (if I = 5 then Text else "good"));
            return I <= 9;
         end Next;

         procedure Act is
         begin
            Load (T, Next'Access, 9);
         end Act;
      begin
         Fails_At (T, 5, Act'Access);
         Has_Rows (T, 0);
      end Is_Refused_At_5;
   begin
      if not Dialect.Holds_NUL then
         Is_Refused_At_5 ("a" & ASCII.NUL & "b");
      end if;
      if Dialect.Name.all /= "SQLite" then
         Is_Refused_At_5 (Character'Val (16#C3#) & "(");
         Is_Refused_At_5 (Character'Val (16#FF#) & "");
      end if;
   end Refused_Values;

   procedure Load_Undone (T : in out Fixture) is
      I, Wrong : Natural;

      function Next (Row : in out SQL.Statement'Class) return Boolean is
      begin
         I := I + 1;
         Bind_Number (Row, (if I = Wrong then 1_000_000 else I));
         return I <= Count;
      end Next;

      procedure Act is
      begin
         I := 0;
         Load (T, Next'Access, Count);
      end Act;
   begin
      T.DB.Execute ("INSERT INTO t (id) VALUES (1000000)");
      for Element in SQL.Integer_64 range 1 .. Count loop
         Wrong := Natural (Element);
         if Wrong in 1 | 2 | 600 | Count then
            Fails_At (T, Element, Act'Access);
            Has_Rows (T, 1);
         end if;
      end loop;
      declare
         Work : SQL.Transaction (T.DB'Access);
      begin
         T.DB.Execute ("INSERT INTO t (id) VALUES (2000000)");
         Fails_At (T, Count, Act'Access);
         Wrong := Count + 7;
         Act;
         Work.Commit;
      end;
      Has_Rows (T, Count + 2);
   end Load_Undone;

   procedure Load_Halts (T : in out Fixture) is
      I : Natural := 0;

      function Next (Row : in out SQL.Statement'Class) return Boolean is
      begin
         I := I + 1;
         Bind_Number (Row, I);
         return (if I < 700 then True else raise Halted);
      end Next;
   begin
      begin
         Load (T, Next'Access, 0);
      exception
         when Halted => null;
      end;
      Assert (I = 700 and then T.DB.In_Autocommit, "halted");
      Has_Rows (T, 0);
   end Load_Halts;

   function None (Row : in out SQL.Statement'Class) return Boolean is (not Row.Is_Open);

   procedure Nothing_Loaded (T : in out Fixture) is

      Rows : SQL.Integer_64;

      procedure Load_Nowhere is
      begin
         SQL.Batches.Load (T.DB, "nowhere", "id", None'Access, Rows);
      end Load_Nowhere;
   begin
      Load (T, None'Access, 0);
      Assert (T.DB.In_Autocommit, "the transaction of the load has ended");
      Has_Rows (T, 0);
      if Dialect.Name.all /= "MariaDB" then
         Is_Refused (Load_Nowhere'Access, Dialect.No_Table);
      end if;
   end Nothing_Loaded;

   --  If the loading task is aborted between two rows, no rows are left

   procedure Aborted (T : in out Fixture) is

      protected Gate is
         procedure Reach;
         entry Wait;
      private
         Is_Reached : Boolean := False;
      end Gate;

      protected body Gate is
         procedure Reach is
         begin
            Is_Reached := True;
         end Reach;

         entry Wait when Is_Reached is
         begin
            null;
         end Wait;
      end Gate;

      I : Natural := 0;

      function Next (Row : in out SQL.Statement'Class) return Boolean is
      begin
         I := I + 1;
         Bind_Number (Row, I);
         if I = 700 then
            Gate.Reach;
            delay 3_600.0;
         end if;
         return True;
      end Next;

      Counts : SQL.Count_List (1 .. Count);

      procedure Bind (To : in out SQL.Statement'Class; Element : Positive) is
         Ignored : constant Boolean := Next (To);
      begin
         pragma Assert (Element > 0);
      end Bind;

   begin
      select
         Gate.Wait;
      then abort
         Load (T, Next'Access, 0);
      end select;
      Assert (T.DB.In_Autocommit, "the transaction of the load has ended");
      Has_Rows (T, 0);
      Begin_Insert (T, Prepared);
      I := 0;
      declare
         task Worker;
         task body Worker is
         begin
            SQL.Batches.Execute (T.Insert, Bind'Access, Counts);
         end Worker;
      begin
         while I < 700 loop
            delay 0.01;
         end loop;
         abort Worker;
      end;
      Assert (T.DB.In_Autocommit, "the transaction of the load has ended");
      Has_Rows (T, 0);
   end Aborted;

   -------------
   -- Servers --
   -------------

   function Session_Id (T : in out Fixture) return String is
   begin
      Prepare (T.Query, T.DB, Dialect.Id.all);
      Assert (T.Query.Step, "the query returns the ID of the session");
      return Result : constant String := T.Query.As_Text (1) do
         T.Query.Close;
      end return;
   end Session_Id;

   procedure End_Connection (Id : String) is
      Other : Connection;
   begin
      Connect (Other);
      Other.Execute (Dialect.Kill.all & " " & Id & Dialect.After_Kill.all);
   end End_Connection;

   procedure Lost (T : in out Fixture) is
      Id     : constant String := Session_Id (T);
      I      : Natural := 0;
      Counts : SQL.Count_List (1 .. 100 * Count);

      function Next (Row : in out SQL.Statement'Class) return Boolean is
      begin
         I := I + 1;
         Bind_Number (Row, I);
         if I = 700 then
            End_Connection (Id);
         end if;
         return I <= Counts'Last;
      end Next;

      procedure Is_Lost (Act : not null access procedure) is
      begin
         Act.all;
         Assert (False, "unreachable");
      exception
         when Failure : SQL.SQL_Error =>
            Assert
              (SQL.Error_Of (Failure).Is_Connection_Failure, SQL.Error_Of (Failure).Message);
      end Is_Lost;

      procedure Load_All is
      begin
         Load (T, Next'Access, 0);
      end Load_All;
   begin
      Is_Lost (Load_All'Access);
      T.DB.Close;
      Set_Up (T);
      declare
         Next_Id : constant String := Session_Id (T);
         procedure Bind_Next (To : in out SQL.Statement'Class; Element : Positive) is
         begin
            Bind_Number (To, Element);
            if Element = 700 then
               End_Connection (Next_Id);
            end if;
         end Bind_Next;

         procedure Execute_Next is
         begin
            SQL.Batches.Execute (T.Insert, Bind_Next'Access, Counts);
         end Execute_Next;
      begin
         Begin_Insert (T, Prepared);
         Is_Lost (Execute_Next'Access);
      end;
      T.DB.Close;
      Connect (T.DB);
      Has_Rows (T, 0);
   end Lost;

   package Caller is new AUnit.Test_Caller (Fixture);

   procedure Add
     (To : in out AUnit.Test_Suites.Test_Suite'Class; Name : String; Test : Caller.Test_Method) is
   begin
      To.Add_Test (Caller.Create (Dialect.Name.all & ": batch: " & Name, Test));
   end Add;

   function Suite return AUnit.Test_Suites.Access_Test_Suite is
      Result : constant AUnit.Test_Suites.Access_Test_Suite := AUnit.Test_Suites.New_Suite;
   begin
      Add (Result.all, "all elements are executed", All_Executed'Access);
      Add (Result.all, "counts", Counts_Reported'Access);
      Add (Result.all, "counts of returned rows", Returned_Counts'Access);
      Add (Result.all, "texts", All_Texts'Access);
      Add (Result.all, "hostile texts", Hostile_Batch'Access);
      Add (Result.all, "an error rolls back the batch", Undone'Access);
      Add (Result.all, "an exception of the program", Halts'Access);
      Add (Result.all, "misuse", Misused'Access);
      Add (Result.all, "load: hostile values", Hostile_Values'Access);
      Add (Result.all, "load: rejected values", Refused_Values'Access);
      Add (Result.all, "load: an error rolls it back", Load_Undone'Access);
      Add (Result.all, "load: an exception of the program", Load_Halts'Access);
      Add (Result.all, "load: no rows", Nothing_Loaded'Access);
      Add (Result.all, "abort", Aborted'Access);
      return Result;
   end Suite;

   function Server_Suite return AUnit.Test_Suites.Access_Test_Suite is
      Result : constant AUnit.Test_Suites.Access_Test_Suite := AUnit.Test_Suites.New_Suite;
   begin
      Add (Result.all, "a lost connection", Lost'Access);
      return Result;
   end Server_Suite;

end Batch_Tests;
