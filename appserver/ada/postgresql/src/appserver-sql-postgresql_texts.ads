--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Finds the parameters in the text of a statement, and checks whether the statement is a COPY.

pragma Ada_2022;

private package Appserver.SQL.PostgreSQL_Texts is

   Max_Parameters : constant := 65_535;
   --  The maximum number of parameters in PostgreSQL's protocol

   type Native_Text (Length : Natural) is record
      Text       : String (1 .. Length);
      Parameters : Natural;
   end record;

   function Native (Text : String; Backslash_Escapes : Boolean) return Native_Text;
   --  Translates the parameters of an SQL text to PostgreSQL's syntax. A text with parameters such
   --  as $1 is not changed, and its number of parameters is the largest number after a $, at most
   --  Max_Parameters. In any other text, each ? becomes $1, $2 and so on, and each ?? becomes ?,
   --  for operators that contain a question mark. Quoted strings, quoted names and comments
   --  (chapter 4.1 of PostgreSQL's manual) are not changed. If Backslash_Escapes is True, a
   --  backslash is an escape character not only in E'…', but also in '…'.

   function Is_Copy (Text : String) return Boolean;
   --  Returns True if the text may be a COPY, which transfers rows. In pipeline mode, libpq accepts
   --  no other commands after a COPY.

end Appserver.SQL.PostgreSQL_Texts;
