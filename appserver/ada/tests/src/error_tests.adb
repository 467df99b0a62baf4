--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

with Ada.Exceptions;
with Ada.Strings.Fixed;
with AUnit.Assertions;
with AUnit.Test_Caller;
with AUnit.Test_Fixtures;
with Checks;

package body Error_Tests is

   use AUnit.Assertions;
   use Checks;
   use Database;

   type Fixture is new AUnit.Test_Fixtures.Test_Fixture with record
      DB : aliased Connection;
   end record;

   overriding procedure Set_Up (T : in out Fixture);
   overriding procedure Tear_Down (T : in out Fixture);

   overriding procedure Set_Up (T : in out Fixture) is
   begin
      Open (T.DB);
      T.DB.Execute ("CREATE TABLE account (name varchar(20) PRIMARY KEY NOT NULL)");
      T.DB.Execute ("INSERT INTO account VALUES ('Ada')");
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

      procedure Run_Prepared is
         Command : Statement;
      begin
         Prepare (Command, T.DB, Text);
         Command.Execute;
      end Run_Prepared;
   begin
      Is_Refused (Execute'Access, State, Words);
      Is_Refused (Run_Prepared'Access, State, Words);
      Answers (T.DB, "SELECT count(*) FROM account", "1");
   end Refuses;

   procedure States (T : in out Fixture) is
   begin
      Refuses (T, "INSERT INTO account VALUES ('Ada')", Dialect.Duplicate);
      Refuses (T, "INSERT INTO account VALUES (NULL)", Dialect.Null_Key, "name");
      Refuses (T, "SELECT * FROM nowhere", Dialect.No_Table, "nowhere");
      Refuses (T, "SELECT nobody FROM account", Dialect.No_Column, "nobody");
      Refuses (T, "SELEKT 1", Dialect.Syntax, "SELEKT");
      Refuses (T, "", Dialect.Syntax);
      Refuses (T, "SELECT 1; SELECT 2", Dialect.Syntax);
      Refuses (T, "SELECT 1" & ASCII.NUL & "; SELECT 2", Dialect.Syntax);
   end States;

   --  After an error a prepared statement can be run again

   procedure Trying_Again (T : in out Fixture) is
      Insert : Statement;

      procedure Run is
      begin
         Insert.Execute;
      end Run;
   begin
      Prepare (Insert, T.DB, "INSERT INTO account VALUES (?)");
      Insert.Bind (1, "Ada");
      Is_Refused (Run'Access, Dialect.Duplicate);
      Insert.Bind (1, "Eve");
      Insert.Execute;
      Answers (T.DB, "SELECT name FROM account WHERE name > 'B'", "Eve");
   end Trying_Again;

   --  The kinds are the same for all databases

   procedure Kinds (T : in out Fixture) is

      procedure Is_Kind (Text : String; Kind : SQL.Error_Kind) is
      begin
         T.DB.Execute (Text);
         Assert (False, "no exception: " & Text);
      exception
         when Occurrence : SQL.SQL_Error =>
            declare
               use type SQL.Error_Kind;
               Error : constant SQL.Error_Record := SQL.Error_Of (Occurrence);
            begin
               Assert (Error.Kind'Image, Kind'Image, Text & ": " & Error.Message);
               Assert
                 (Error.Is_Unique_Violation = (Kind = SQL.Unique_Violation), "unique: " & Text);
               Assert
                 (Error.Is_Foreign_Key_Violation = (Kind = SQL.Foreign_Key_Violation),
                  "foreign key: " & Text);
               Assert
                 (Error.Is_Constraint_Violation = (Error.State (1 .. 2) = "23"),
                  "constraint: " & Text);
               Assert (not Error.Is_Retryable, "not retryable: " & Text);
               Assert (not Error.Is_Connection_Failure, "connected: " & Text);
            end;
      end Is_Kind;
   begin
      T.DB.Execute
        ("CREATE TABLE t (id integer PRIMARY KEY, x integer NOT NULL, owner varchar(20),"
         & " CONSTRAINT small CHECK (x < 10),"
         & " CONSTRAINT owned FOREIGN KEY (owner) REFERENCES account (name))");
      T.DB.Execute ("INSERT INTO t VALUES (1, 1, 'Ada')");
      Is_Kind ("INSERT INTO t VALUES (1, 1, NULL)", SQL.Unique_Violation);
      Is_Kind ("INSERT INTO account VALUES ('Ada')", SQL.Unique_Violation);
      Is_Kind ("INSERT INTO t VALUES (2, NULL, NULL)", SQL.Not_Null_Violation);
      Is_Kind ("INSERT INTO t VALUES (2, 10, NULL)", SQL.Check_Violation);
      Is_Kind ("INSERT INTO t VALUES (2, 1, 'Eve')", SQL.Foreign_Key_Violation);
      Is_Kind ("DELETE FROM account", SQL.Foreign_Key_Violation);
      Is_Kind ("SELEKT 1", SQL.Wrong_Statement);
      Is_Kind ("SELECT nobody FROM account", SQL.Wrong_Statement);
      T.DB.Execute ("DROP TABLE t");
   end Kinds;

   --  The message of an exception is limited to 200 bytes

   procedure Long_Words (T : in out Fixture) is
      Name : constant String (1 .. 600) := [others => 'x'];
   begin
      T.DB.Execute ("SELECT '" & Name & "' FROM nowhere_" & Name (1 .. 40) & "_end, elsewhere");
      Assert (False, "there is a table with this name");
   exception
      when Error : SQL.SQL_Error =>
         Assert
           (Ada.Strings.Fixed.Index (SQL.Message_Of (Error), Name (1 .. 40) & "_end") > 0,
            SQL.Message_Of (Error));
   end Long_Words;

   --  An older error, and an error of another task, preserve their state, code and origin

   procedure Saved (T : in out Fixture) is
      Older, Other : Ada.Exceptions.Exception_Occurrence;

      procedure Fail (Text : String; Into : in out Ada.Exceptions.Exception_Occurrence) is
      begin
         T.DB.Execute (Text);
      exception
         when Error : SQL.SQL_Error =>
            Ada.Exceptions.Save_Occurrence (Into, Error);
      end Fail;

      procedure Is_Duplicate (Error : SQL.Error_Record) is
      begin
         Assert (Error.Is_Unique_Violation, Error.Kind'Image);
         Assert (Error.State, Dialect.Duplicate, "state");
         Assert (Ada.Strings.Fixed.Index (Error.Message, "name") > 0
                 or else Ada.Strings.Fixed.Index (Error.Message, "Ada") > 0
                 or else Ada.Strings.Fixed.Index (Error.Message, "account") > 0, Error.Message);
      end Is_Duplicate;
   begin
      declare
         task Elsewhere;
         task body Elsewhere is
         begin
            Fail ("INSERT INTO account VALUES ('Ada')", Other);
         end Elsewhere;
      begin
         null;
      end;
      Is_Duplicate (SQL.Error_Of (Other));
      Fail ("INSERT INTO account VALUES ('Ada')", Older);
      Fail ("SELEKT 1", Other);
      Is_Duplicate (SQL.Error_Of (Older));
      Assert (SQL.Error_Of (Other).State, Dialect.Syntax, "the other record has the later error");
   end Saved;

   package Caller is new AUnit.Test_Caller (Fixture);

   function Suite return AUnit.Test_Suites.Access_Test_Suite is
      Result : constant AUnit.Test_Suites.Access_Test_Suite := AUnit.Test_Suites.New_Suite;

      procedure Add (Name : String; Test : Caller.Test_Method) is
      begin
         Result.Add_Test (Caller.Create (Dialect.Name.all & ": " & Name, Test));
      end Add;
   begin
      Add ("errors have SQLSTATEs", States'Access);
      Add ("a statement runs again after an error", Trying_Again'Access);
      Add ("errors have kinds", Kinds'Access);
      Add ("errors have complete messages", Long_Words'Access);
      Add ("saved errors", Saved'Access);
      return Result;
   end Suite;

end Error_Tests;
