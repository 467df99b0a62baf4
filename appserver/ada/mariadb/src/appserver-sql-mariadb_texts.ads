--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Finds the parameters in the text of a statement, and checks whether the text is a single
--  statement that changes rows.

pragma Ada_2022;

private package Appserver.SQL.MariaDB_Texts is

   type Position_List is array (Positive range <>) of Positive;

   function Parameters_In (Text : String; Backslash_Escapes : Boolean) return Position_List;
   --  Returns the position of each ? that is not inside a quoted string, a quoted name or a
   --  comment: https://mariadb.com/kb/en/string-literals/,
   --  https://mariadb.com/kb/en/comment-syntax/. Raises SQL_Error 0A000 if the text has both
   --  parameters and an executable comment, such as /*! ... */.

   function Is_Change (Text : String) return Boolean;
   --  Returns True if the text is an INSERT, UPDATE, DELETE or REPLACE. If it has a result, the
   --  rows of the result are the rows that it has changed.

   function Changes_Rows (Text : String; Backslash_Escapes : Boolean) return Boolean;
   --  Returns True only if the text is certainly a single INSERT, UPDATE, DELETE or REPLACE with
   --  one result, so that a line feed and a semicolon can be appended to it

end Appserver.SQL.MariaDB_Texts;
