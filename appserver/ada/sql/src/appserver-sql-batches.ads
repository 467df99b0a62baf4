--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Executes a statement multiple times, and loads rows into a table, with few round trips.
--
--  Each call takes effect completely or not at all. It runs in a savepoint if a transaction is
--  open, and in its own transaction otherwise. In MariaDB, this requires tables that support
--  transactions, such as InnoDB tables. After an SQL_Error, the component Element of its
--  Error_Record, and its message, contain the number of the execution or row that failed. Element
--  is 0 if the error concerns the whole call, such as the violation of a deferred constraint.

pragma Ada_2022;

package Appserver.SQL.Batches is

   pragma Assertion_Policy (Pre => Check, Pre'Class => Check);

   procedure Execute
     (Self   : in out Statement'Class;
      Bind   : not null access procedure (To : in out Statement'Class; Element : Positive);
      Counts : out Count_List)
     with Pre  => Can_Run (Self)
                  and then ((Counts'First = 1 and then not Self.Has_Row)
                            or else raise Misuse_Error with
                              "Counts does not begin with 1, or rows are being read"),
          Post => not Self.Has_Row;
   --  Executes a statement once for each element of Counts, and discards the rows. For PostgreSQL,
   --  up to 500 executions take one round trip (libpq's pipeline mode). For MariaDB, up to 500
   --  executions are combined into one text if the statement is an INSERT, UPDATE, DELETE or
   --  REPLACE without a semicolon; any other statement takes one round trip per execution.
   --  @param Self the statement
   --  @param Bind binds the values of one execution. Bind must not do anything else with the
   --  statement, and must use neither another statement nor the connection.
   --  @param Counts set to the number of rows that each execution changed
   --  @exception SQL_Error an execution failed
   --  @exception Misuse_Error the statement is closed or has a row, or Counts does not begin with 1

   procedure Load
     (On      : in out Connection'Class;
      Table   : UTF_8_String;
      Columns : UTF_8_String;
      Next    : not null access function (Row : in out Statement'Class) return Boolean;
      Rows    : out Integer_64)
     with Pre => Can_Use (On);
   --  Inserts rows into a table, in constant memory. Uses COPY in PostgreSQL (which reports errors
   --  at the end), multi-row INSERTs in MariaDB, and a prepared INSERT in SQLite.
   --  @param On the connection
   --  @param Table the table name, as SQL text. Never pass user input.
   --  @param Columns the column names, as SQL text, such as "name, stock". Never pass user input.
   --  @param Next binds the values of a row and returns True, or returns False after the last row.
   --  A parameter that Next does not bind keeps the value of the previous row. Next must not use On
   --  in any other way.
   --  @param Rows set to the number of inserted rows
   --  @exception SQL_Error a row could not be inserted
   --  @exception Misuse_Error the connection is closed

end Appserver.SQL.Batches;
