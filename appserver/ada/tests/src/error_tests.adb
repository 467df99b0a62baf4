--  SPDX-License-Identifier: Apache-2.0

with AUnit.Test_Caller;
with AUnit.Test_Fixtures;
with Checks;

package body Error_Tests is

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
      Refuses (T, "INSERT INTO account VALUES ('Ada')", Known.Duplicate);
      Refuses (T, "INSERT INTO account VALUES (NULL)", Known.Null_Key, "name");
      Refuses (T, "SELECT * FROM nowhere", Known.No_Table, "nowhere");
      Refuses (T, "SELECT nobody FROM account", Known.No_Column, "nobody");
      Refuses (T, "SELEKT 1", Known.Syntax, "SELEKT");
      Refuses (T, "", Known.Syntax);
      Refuses (T, "SELECT 1; SELECT 2", Known.Syntax);
      Refuses (T, "SELECT 1" & ASCII.NUL & "; SELECT 2", Known.Syntax);
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
      Is_Refused (Run'Access, Known.Duplicate);
      Insert.Bind (1, "Eve");
      Insert.Execute;
      Answers (T.DB, "SELECT name FROM account WHERE name > 'B'", "Eve");
   end Trying_Again;

   package Caller is new AUnit.Test_Caller (Fixture);

   function Suite return AUnit.Test_Suites.Access_Test_Suite is
      Result : constant AUnit.Test_Suites.Access_Test_Suite := AUnit.Test_Suites.New_Suite;

      procedure Add (Name : String; Test : Caller.Test_Method) is
      begin
         Result.Add_Test (Caller.Create (Known.Name.all & ": " & Name, Test));
      end Add;
   begin
      Add ("errors have states", States'Access);
      Add ("running again after an error", Trying_Again'Access);
      return Result;
   end Suite;

end Error_Tests;
