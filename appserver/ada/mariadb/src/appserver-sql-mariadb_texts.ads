--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Finds the parameters in a statement's text, and checks whether it is one statement.

pragma Ada_2022;

private package Appserver.SQL.MariaDB_Texts is

   type Position_List is array (Positive range <>) of Positive;

   function Parameters_In (Text : String; Backslash_Escapes : Boolean) return Position_List;
   --  Where a ? is that is neither in a quoted string or name nor in a comment:
   --  https://mariadb.com/kb/en/string-literals/, https://mariadb.com/kb/en/comment-syntax/.
   --  SQL_Error, 0A000, if the text has parameters and a comment of the kind that is carried out.

   function Changes_Rows (Text : String; Backslash_Escapes : Boolean) return Boolean;
   --  True if it is for certain one INSERT, UPDATE, DELETE or REPLACE, which has one result, and
   --  which a line feed and a semicolon end

end Appserver.SQL.MariaDB_Texts;
