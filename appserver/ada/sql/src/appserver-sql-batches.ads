--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Executes a statement many times, and loads rows into a table, with few round trips.
--
--  Each call takes effect completely or not at all: in a transaction of its own or, if one is open,
--  in a savepoint of that. The Element of an SQL_Error's record, and its message, report which
--  execution or row failed; 0 is an error of the whole, such as that of a deferred constraint. In
--  MariaDB this requires tables with transactions, such as those of InnoDB.

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
                              "counts begin with 1, and no rows are being read"),
          Post => not Self.Has_Row;
   --  Executes a statement once for each element of Counts, and discards its rows. PostgreSQL gets
   --  up to 500 executions in a round trip (libpq's pipeline mode). MariaDB gets as many as one
   --  text, if the statement is an INSERT, UPDATE, DELETE or REPLACE without a semicolon; else one.
   --  @param Self the statement
   --  @param Bind binds the values of an execution. It must use Self alone, and only bind.
   --  @param Counts the number of rows that each execution changed
   --  @exception SQL_Error an execution failed
   --  @exception Misuse_Error the statement is closed or has a row, or Counts does not begin with 1

   procedure Load
     (On      : in out Connection'Class;
      Table   : UTF_8_String;
      Columns : UTF_8_String;
      Next    : not null access function (Row : in out Statement'Class) return Boolean;
      Rows    : out Integer_64)
     with Pre => Can_Use (On);
   --  Inserts rows into a table, in constant memory. PostgreSQL gets a COPY, and reports an error
   --  at its end; MariaDB gets INSERTs of many rows; SQLite runs a prepared INSERT.
   --  @param On the connection
   --  @param Table the table, as SQL text: never insert user input
   --  @param Columns the columns, as SQL text, such as "name, stock"
   --  @param Next binds the values of a row and returns True, or returns False after the last row.
   --  A value that it does not bind is that of the previous row. It must not use On otherwise.
   --  @param Rows the number of rows
   --  @exception SQL_Error a row could not be inserted
   --  @exception Misuse_Error the connection is closed

end Appserver.SQL.Batches;
