--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

with AUnit.Assertions;
with AUnit.Test_Caller;
with AUnit.Test_Fixtures;
with Checks;

package body Misuse_Tests is

   use AUnit.Assertions;
   use Checks;
   use Database;
   use type SQL.Integer_64;

   type Fixture is new AUnit.Test_Fixtures.Test_Fixture with record
      DB    : aliased Connection;
      Query : Statement;
   end record;

   overriding procedure Set_Up (T : in out Fixture);
   overriding procedure Tear_Down (T : in out Fixture);

   overriding procedure Set_Up (T : in out Fixture) is
   begin
      Open (T.DB);
      Prepare (T.Query, T.DB, "SELECT 1, ? UNION ALL SELECT 2, 3");
   end Set_Up;

   overriding procedure Tear_Down (T : in out Fixture) is
   begin
      T.DB.Close;
   end Tear_Down;

   procedure Step (T : in out Fixture) is
   begin
      Assert (T.Query.Step, "a row");
   end Step;

   procedure Columns (T : in out Fixture) is

      procedure Read_Third is
      begin
         Assert (T.Query.As_Integer_64 (3) = 0, "unreachable");
      end Read_Third;

      procedure Read_Text is
      begin
         Assert (T.Query.As_Text (Positive'Last), "", "unreachable");
      end Read_Text;

      procedure Read_First is
      begin
         Assert (T.Query.As_Integer_64 (1) = 0, "unreachable");
      end Read_First;

   begin
      Is_Misuse (Read_First'Access, "no row");
      Step (T);
      Is_Misuse (Read_Third'Access, "column 3: the number of columns is 2");
      Is_Misuse (Read_Text'Access, "the number of columns is 2");
      Step (T);
      Assert (not T.Query.Step, "two rows");
      Is_Misuse (Read_First'Access, "no row");
      Step (T);
      T.Query.Reset;
      Is_Misuse (Read_First'Access, "no row");
   end Columns;

   procedure Parameters (T : in out Fixture) is

      procedure Bind_Second is
      begin
         T.Query.Bind (2, SQL.Integer_64'(1));
      end Bind_Second;

      procedure Bind_First is
      begin
         T.Query.Bind (1, "x");
      end Bind_First;

   begin
      Is_Misuse (Bind_Second'Access, "parameter 2: the number of parameters is 1");
      Step (T);
      Is_Misuse (Bind_First'Access, "being read");
      T.Query.Reset;
      Bind_First;
   end Parameters;

   procedure All_Refused (T : in out Fixture) is

      procedure Step is
      begin
         Assert (T.Query.Step, "unreachable");
      end Step;

      procedure Execute is
      begin
         T.Query.Execute;
      end Execute;

      procedure Reset is
      begin
         T.Query.Reset;
      end Reset;

      procedure Bind is
      begin
         T.Query.Bind (1, 1.0);
      end Bind;

      procedure Read is
      begin
         Assert (T.Query.Is_Null (1), "unreachable");
      end Read;

   begin
      Assert (not T.Query.Is_Open and then not T.Query.Has_Row, "closed");
      Is_Misuse (Step'Access, "statement is not open");
      Is_Misuse (Execute'Access, "statement is not open");
      Is_Misuse (Reset'Access, "statement is not open");
      Is_Misuse (Bind'Access, "statement is not open");
      Is_Misuse (Read'Access, "statement is not open");
   end All_Refused;

   procedure Closed_Statement (T : in out Fixture) is
   begin
      Step (T);
      T.Query.Close;
      T.Query.Close;
      All_Refused (T);
      Prepare (T.Query, T.DB, "SELECT 7");
      Step (T);
      Assert (T.Query.As_Integer_64 (1) = 7, "the statement can be prepared again");
   end Closed_Statement;

   procedure Closed_Connection (T : in out Fixture) is

      procedure Execute is
      begin
         T.DB.Execute ("SELECT 1");
      end Execute;

      procedure Prepare is
      begin
         Prepare (T.Query, T.DB, "SELECT 1");
      end Prepare;

      procedure Ask is
      begin
         Assert (T.DB.In_Autocommit, "unreachable");
      end Ask;

      procedure Begin_Work is
         Work : SQL.Transaction (T.DB'Access) with Unreferenced;
      begin
         Assert (False, "a transaction began");
      end Begin_Work;

   begin
      Step (T);
      T.DB.Close;
      All_Refused (T);
      Is_Misuse (Execute'Access, "connection is not open");
      Is_Misuse (Prepare'Access, "connection is not open");
      Is_Misuse (Ask'Access, "connection is not open");
      Is_Misuse (Begin_Work'Access, "connection is not open");
      T.DB.Cancel;
      T.DB.Close;
   end Closed_Connection;

   procedure Opened_Twice (T : in out Fixture) is
      procedure Open is
      begin
         Open (T.DB);
      end Open;
   begin
      Is_Misuse (Open'Access, "connection is open");
      T.DB.Close;
      Open;
      Answers (T.DB, "SELECT 1", "1");
   end Opened_Twice;

   --  If preparing a statement fails, the statement is closed, and the previous statement is
   --  released

   procedure Failed_Statement (T : in out Fixture) is
      procedure Prepare is
      begin
         Prepare (T.Query, T.DB, "SELEKT");
      end Prepare;
   begin
      Is_Refused (Prepare'Access, Dialect.Syntax);
      All_Refused (T);
   end Failed_Statement;

   --  Statements are removed from the head, the middle and the end of their connection's list

   procedure Any_Order (T : in out Fixture) is
      DB    : Connection;
      Three : array (1 .. 3) of Statement;

      pragma Unreferenced (T);
   begin
      for First in Three'Range loop
         Open (DB);
         for Query of Three loop
            Prepare (Query, DB, "SELECT 1");
         end loop;
         Three (First).Close;
         for Other in Three'Range loop
            Assert (Three (Other).Is_Open = (Other /= First), "the other statements are open");
         end loop;
         DB.Close;
         Assert
           ((for all Query of Three => not Query.Is_Open),
            "the statements are closed with the connection");
      end loop;
   end Any_Order;

   procedure Outlived_Connection (T : in out Fixture) is
   begin
      declare
         Short_Lived : Connection;
      begin
         Open (Short_Lived);
         Prepare (T.Query, Short_Lived, "SELECT 1");
         Step (T);
      end;
      All_Refused (T);
   end Outlived_Connection;

   package Caller is new AUnit.Test_Caller (Fixture);

   function Suite return AUnit.Test_Suites.Access_Test_Suite is
      Result : constant AUnit.Test_Suites.Access_Test_Suite := AUnit.Test_Suites.New_Suite;

      procedure Add (Name : String; Test : Caller.Test_Method) is
      begin
         Result.Add_Test (Caller.Create (Dialect.Name.all & ": " & Name, Test));
      end Add;
   begin
      Add ("missing columns", Columns'Access);
      Add ("parameters that cannot be bound", Parameters'Access);
      Add ("a closed statement", Closed_Statement'Access);
      Add ("a closed connection", Closed_Connection'Access);
      Add ("a connection opened twice", Opened_Twice'Access);
      Add ("a failed statement", Failed_Statement'Access);
      Add ("statements closed in any order", Any_Order'Access);
      Add ("a statement that outlived its connection", Outlived_Connection'Access);
      return Result;
   end Suite;

end Misuse_Tests;
