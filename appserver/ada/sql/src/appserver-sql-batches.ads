--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Many executions of a statement, and rows loaded into a table, with few round trips.
--
--  It is done completely or not at all: in a transaction of its own or, if one is open, in a
--  savepoint of that. The Element of an SQL_Error's record tells which execution or row failed, and
--  so do its words; 0 is an error of the whole, such as that of a deferred constraint. In MariaDB
--  this needs tables with transactions, as InnoDB has them.

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
   --  Calls Bind for each element of Counts in order, and executes Self with the bound values. Rows
   --  are discarded. Bind uses Self alone, and only binds. PostgreSQL gets up to 500 executions in
   --  a round trip (libpq's pipeline mode). MariaDB gets as many as one text, if the statement is
   --  an INSERT, UPDATE, DELETE or REPLACE without a semicolon; else one.

   procedure Load
     (On      : in out Connection'Class;
      Table   : UTF_8_String;
      Columns : UTF_8_String;
      Next    : not null access function (Row : in out Statement'Class) return Boolean;
      Rows    : out Integer_64)
     with Pre => Can_Use (On);
   --  Inserts rows into Columns of Table, in constant memory. Both are SQL text, as in "name,
   --  stock": never a user's words. Next binds the row's values and returns True, or returns False
   --  after the last row. A value that it does not bind is that of the previous row. It does
   --  nothing else with On. PostgreSQL gets a COPY, and tells of an error at its end; MariaDB gets
   --  INSERTs of many rows; SQLite has a prepared INSERT.

end Appserver.SQL.Batches;
