--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Connections and statements for any database that record their executions in a monitor:
--
--     Watched : aliased Monitors.Monitor;
--
--     package Databases is new Appserver.SQL.Monitored
--       (Watched'Access, SQLite.Connection, SQLite.Statement, SQLite.Prepare,
--        SQLite.Prepare_Client_Side);
--
--     package Shops is new Appserver.SQL.Pools
--       (Databases.Connection, Databases.Statement, Open_Shop, Databases.Prepare_Counted);
--
--  The time of an execution is the time that the program waits for the database. If the program
--  reads a result row by row, this time is the sum over all steps. Commits and rollbacks of
--  transactions are recorded as the queries COMMIT and ROLLBACK.

pragma Ada_2022;

with Appserver.Monitors;

generic
   Monitor : not null Monitors.Monitor_Reference;

   type Database_Connection is limited new SQL.Connection with private;
   type Database_Statement is limited new SQL.Statement with private;

   with procedure Prepare_Statement
     (Self : in out Database_Statement;
      On   : in out Database_Connection'Class;
      Text : UTF_8_String);
   with procedure Prepare_Statement_Client_Side
     (Self : in out Database_Statement;
      On   : in out Database_Connection'Class;
      Text : UTF_8_String);
   --  The procedures Prepare and Prepare_Client_Side of the driver

package Appserver.SQL.Monitored is

   type Connection is limited new Database_Connection with private;
   type Statement is limited new Database_Statement with private;

   overriding function Prepare
     (Self : in out Connection; Text : UTF_8_String) return SQL.Statement'Class;
   overriding function Prepare_Client_Side
     (Self : in out Connection; Text : UTF_8_String) return SQL.Statement'Class;
   overriding procedure Execute (Self : in out Connection; Text : UTF_8_String);

   procedure Prepare_Counted
     (Self : in out Statement; On : in out Connection'Class; Text : UTF_8_String);
   procedure Prepare_Client_Side_Counted
     (Self : in out Statement; On : in out Connection'Class; Text : UTF_8_String);
   --  Prepare a statement whose executions are recorded. The inherited procedures Prepare and
   --  Prepare_Client_Side of the driver also prepare statements, but the monitor has no name for
   --  them.
   --  @param Self the statement
   --  @param On the connection
   --  @param Text one SQL statement

   overriding function Step (Self : in out Statement) return Boolean;
   overriding procedure Execute (Self : in out Statement);
   overriding procedure Reset (Self : in out Statement);
   overriding procedure Unbind (Self : in out Statement);
   overriding procedure Close (Self : in out Statement);

private

   type Connection is limited new Database_Connection with record
      Is_Counting : Boolean := False;
      --  True while a command is being recorded. A nested command is recorded as part of the outer
      --  command.
   end record;

   overriding procedure Commit (Self : in out Connection);
   overriding procedure Roll_Back (Self : in out Connection);

   type Statement is limited new Database_Statement with record
      Query      : Monitors.Query;
      Spent_Time : Monitors.Nanoseconds := 0;
      Is_Running : Boolean := False;
      --  True if there are steps that have not been recorded yet
      Executions : Natural := 0;
   end record;

   overriding procedure Run_Each
     (Self    : in out Statement;
      Bind    : not null access procedure (To : in out SQL.Statement'Class; Element : Positive);
      Counts  : out Count_List;
      Current : not null access Integer_64);

end Appserver.SQL.Monitored;
