--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

with AUnit.Assertions;
with AUnit.Test_Caller;
with AUnit.Test_Fixtures;
with Checks;

package body Server_Tests is

   use AUnit.Assertions;
   use Checks;
   use Database;
   use type SQL.Integer_32;
   use type SQL.Integer_64;

   type Fixture is new AUnit.Test_Fixtures.Test_Fixture with record
      DB : aliased Connection;
   end record;

   overriding procedure Set_Up (T : in out Fixture);
   overriding procedure Tear_Down (T : in out Fixture);

   overriding procedure Set_Up (T : in out Fixture) is
   begin
      Open (T.DB);
   end Set_Up;

   overriding procedure Tear_Down (T : in out Fixture) is
   begin
      T.DB.Close;
   end Tear_Down;

   function Number (DB : in out Connection; Query : String) return SQL.Integer_64 is
      Cursor : Statement;
   begin
      Prepare_Client_Side (Cursor, DB, Query);
      Assert (Cursor.Step, "a row of: " & Query);
      return Cursor.As_Integer_64 (1);
   end Number;

   --  Waits for a value, since a server takes a moment to end a session

   procedure Becomes (DB : in out Connection; Query : String; Value : SQL.Integer_64) is
   begin
      for Time in 1 .. 6_000 loop
         if Number (DB, Query) = Value then
            return;
         end if;
         delay 0.01;
      end loop;
      Assert (Number (DB, Query) = Value, Query & " is" & Number (DB, Query)'Image);
   end Becomes;

   --  Waits for sessions of earlier tests, which may still be ending

   procedure Be_Alone (T : in out Fixture) is
   begin
      Becomes (T.DB, Dialect.Sessions.all, 1);
   end Be_Alone;

   procedure Returned (T : in out Fixture) is
      procedure Leave is
         DB    : aliased Connection;
         Query : Statement;
      begin
         Connect (DB);
         Prepare (Query, DB, "SELECT 1 UNION ALL SELECT 2");
         Assert (Query.Step, "a row");
         Becomes (T.DB, Dialect.Sessions.all, 2);
         raise SQL.SQL_Error with "on the way";
      end Leave;
   begin
      Be_Alone (T);
      for Time in 1 .. 3 loop
         Is_Refused (Leave'Access, "HY000", "on the way");
         Be_Alone (T);
      end loop;
   end Returned;

   procedure Refused (T : in out Fixture) is
      DB : Connection;

      --  The state is 28000, or 28P01 where PostgreSQL asks for passwords

      procedure Be_A_Stranger is
      begin
         Connect_As_Stranger (DB);
         Assert (False, "an unknown user was able to connect");
      exception
         when Error : SQL.SQL_Error =>
            Assert (SQL.State_Of (Error) in "28000" | "28P01", "the SQLSTATE for an unknown user");
      end Be_A_Stranger;

      procedure Go_Nowhere is
      begin
         Connect_Nowhere (DB);
      end Go_Nowhere;
   begin
      Be_A_Stranger;
      Is_Refused (Go_Nowhere'Access, "08001");
      Assert (not DB.Is_Open, "a rejected connection is closed");
      Be_Alone (T);
      Connect (DB);
      Answers (DB, "SELECT 1", "1");
   end Refused;

   procedure Cancelled (T : in out Fixture) is

      task Other is
         entry Stop;
      end Other;

      task body Other is
         Stopped : Boolean := False;
      begin
         while not Stopped loop
            select
               accept Stop;
               Stopped := True;
            or
               delay 0.1;
               T.DB.Cancel;
            end select;
         end loop;
      end Other;

      procedure Wait is
      begin
         T.DB.Execute (Dialect.Slow.all);
      end Wait;

   begin
      Is_Refused (Wait'Access, "57014");
      Other.Stop;
      Answers (T.DB, "SELECT 1", "1");
   exception
      when others =>
         Other.Stop;
         raise;
   end Cancelled;

   --  The first statement may get the server's last message; the next statements find the server
   --  unreachable

   procedure Lost (T : in out Fixture) is
      DB    : aliased Connection;
      Query : Statement;
      Id    : SQL.Integer_64;

      procedure Run is
      begin
         Query.Execute;
      end Run;

      procedure Execute is
      begin
         DB.Execute ("SELECT 1");
      end Execute;
   begin
      Be_Alone (T);
      Connect (DB);
      Prepare (Query, DB, "SELECT 1");
      Id := Number (DB, Dialect.Id.all);
      declare
         Work : SQL.Transaction (DB'Access) with Unreferenced;
      begin
         T.DB.Execute (Dialect.Kill.all & Id'Image & Dialect.After_Kill.all);
         Be_Alone (T);
         begin
            Run;
            Assert (False, "the server responded");
         exception
            when SQL.SQL_Error => null;
         end;
         Is_Refused (Execute'Access, "08006");
         Is_Refused (Run'Access, "08006");
      end;
      DB.Close;
      Connect (DB);
      Answers (DB, "SELECT 1", "1");
   end Lost;

   --  The server stores prepared statements, but not statements that are prepared on the client
   --  side

   procedure Keeps_Prepared (T : in out Fixture) is
      Before : constant SQL.Integer_64 := Number (T.DB, Dialect.Prepared.all);

      procedure Prepare_Two is
         First, Second : Statement;
      begin
         Prepare (First, T.DB, "SELECT ?");
         Prepare (Second, T.DB, "SELECT 2");
         Becomes (T.DB, Dialect.Prepared.all, Before + 2);
         Second.Close;
         Becomes (T.DB, Dialect.Prepared.all, Before + 1);
      end Prepare_Two;

      procedure Use_Unprepared is
         First : Statement;
      begin
         Prepare_Client_Side (First, T.DB, "SELECT ?");
         First.Bind (1, SQL.Integer_64'(1));
         Assert (First.Step, "a row");
         Becomes (T.DB, Dialect.Prepared.all, Before);
      end Use_Unprepared;
   begin
      Prepare_Two;
      Becomes (T.DB, Dialect.Prepared.all, Before);
      Use_Unprepared;
   end Keeps_Prepared;

   --  A statement is released even if it was closed in a failed transaction

   procedure Closed_After_An_Error (T : in out Fixture) is
      Before : constant SQL.Integer_64 := Number (T.DB, Dialect.Prepared.all);

      procedure Fail is
         Work  : SQL.Transaction (T.DB'Access) with Unreferenced;
         Query : Statement;
      begin
         Prepare (Query, T.DB, "SELECT 1");
         T.DB.Execute ("SELECT * FROM nowhere");
      end Fail;

      Next : Statement;
   begin
      Is_Refused (Fail'Access, Dialect.No_Table);
      Prepare (Next, T.DB, "SELECT 2");
      Becomes (T.DB, Dialect.Prepared.all, Before + 1);
   end Closed_After_An_Error;

   --  Reads every row of a long result, with values that are longer than the previous ones

   procedure Long_Results (T : in out Fixture) is
      Query : Statement;
      Rows  : Natural := 0;
      Text  : String (1 .. 3_000_000);
   begin
      for I in Text'Range loop
         Text (I) := Character'Val (Character'Pos ('a') + I mod 26);
      end loop;
      T.DB.Execute ("CREATE TABLE t (id integer, x " & Dialect.Long_Text.all & ")");
      Prepare (Query, T.DB, "INSERT INTO t VALUES (?, ?)");
      for Id in 1 .. 8 loop
         Query.Bind (1, SQL.Integer_64 (Id));
         Query.Bind (2, Text (1 .. 8 ** (Id - 1)));
         Query.Execute;
         Assert (T.DB.Rows_Affected = 1, "one row");
      end loop;
      Prepare (Query, T.DB, "SELECT id, x FROM t ORDER BY id");
      for Time in 1 .. 2 loop
         Rows := 0;
         while Query.Step loop
            Rows := Rows + 1;
            Assert (Query.As_Integer_64 (1) = SQL.Integer_64 (Rows), "the number in the row");
            Assert (Query.As_Text (2) = Text (1 .. 8 ** (Rows - 1)), "the text in the row");
         end loop;
         Assert (Rows = 8, "all rows were read");
      end loop;
   end Long_Results;

   --  With statements prepared on the server and on the client side

   procedure Types (T : in out Fixture) is
      type Amount is delta 0.000_1 digits 15;
      type Coarse is delta 0.1 digits 15;

      function As_Amount is new SQL.As_Decimal (Amount);
      function As_Coarse is new SQL.As_Decimal (Coarse);

      procedure Check (Query : in out Statement) is
         procedure Read_Integer is
         begin
            Assert (Query.As_Integer_64 (4) = 0, "unreachable");
         end Read_Integer;

         procedure Read_Coarse is
         begin
            Assert (As_Coarse (Query, 4) = 0.0, "unreachable");
         end Read_Coarse;

         procedure Read_Number is
         begin
            Assert (Query.As_Integer_64 (5) = 0, "unreachable");
         end Read_Number;

         procedure Read_Null is
         begin
            Assert (As_Amount (Query, 6) = 0.0, "unreachable");
         end Read_Null;
      begin
         Assert (Query.Step, "a row");
         Assert (Query.As_Integer_64 (1) = SQL.Integer_64'First, "bigint");
         Assert (Query.As_Text (1), "-9223372036854775808", "a bigint as text");
         Assert (Query.As_Integer_64 (2) = -32_768, "smallint");
         Assert (Query.As_Float (3) = 0.1, "double");
         Assert (As_Amount (Query, 3) = 0.1, "a double that is rounded");
         Assert (As_Amount (Query, 4) = -12_345_678_901.234_5, "decimal");
         Is_Refused (Read_Integer'Access, "22003", "column 4");
         Is_Refused (Read_Coarse'Access, "22003", "1 decimals");
         Assert (Query.As_Text (5), "text", "text");
         Is_Refused (Read_Number'Access, "22018", "column 5");
         Assert (Query.Is_Null (6), "null");
         Is_Refused (Read_Null'Access, "22002", "column 6");
         Assert (Query.As_Text (7) (1 .. 19), "2026-11-21 09:15:00", "timestamp");
         Query.Reset;
      end Check;

      Row   : constant String :=
        "SELECT b, s, d, n, c, x, m FROM t";
      Query : Statement;
   begin
      T.DB.Execute
        ("CREATE TABLE t (b bigint, s smallint, d double precision, n decimal(15, 4),"
         & " c varchar(10), x integer, m timestamp NULL)");
      T.DB.Execute
        ("INSERT INTO t VALUES (-9223372036854775808, -32768, 0.1, -12345678901.2345, 'text',"
         & " NULL, '2026-11-21 09:15:00')");
      Prepare (Query, T.DB, Row);
      Check (Query);
      Prepare_Client_Side (Query, T.DB, Row);
      Check (Query);
      Prepare (Query, T.DB, "SELECT s, c FROM t");
      Assert (Query.Step, "a row");
      Assert (Query.As_Integer_32 (1) = -32_768, "smallint");
      Assert (Query.As_Text (1) & Query.As_Text (2), "-32768text", "values as text");
   end Types;

   package Caller is new AUnit.Test_Caller (Fixture);

   function Suite return AUnit.Test_Suites.Access_Test_Suite is
      Result : constant AUnit.Test_Suites.Access_Test_Suite := AUnit.Test_Suites.New_Suite;

      procedure Add (Name : String; Test : Caller.Test_Method) is
      begin
         Result.Add_Test (Caller.Create (Dialect.Name.all & ": " & Name, Test));
      end Add;
   begin
      Add ("connections are returned", Returned'Access);
      Add ("rejected connections", Refused'Access);
      Add ("canceling from another task", Cancelled'Access);
      Add ("a lost connection", Lost'Access);
      Add ("prepared statements on the server", Keeps_Prepared'Access);
      Add ("a statement closed after an error", Closed_After_An_Error'Access);
      Add ("long results", Long_Results'Access);
      Add ("column types", Types'Access);
      return Result;
   end Suite;

end Server_Tests;
