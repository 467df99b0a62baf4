--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Finds the parameters in a statement's text, and checks whether it is a COPY.

pragma Ada_2022;

private package Appserver.SQL.PostgreSQL_Texts is

   Max_Parameters : constant := 65_535;
   --  The maximum number of parameters in PostgreSQL's protocol

   type Native_Text (Length : Natural) is record
      Text       : String (1 .. Length);
      Parameters : Natural;
   end record;

   function Native (Text : String) return Native_Text;
   --  Translates a text to PostgreSQL's syntax. A text with $n is not changed; the largest n is the
   --  number of parameters, at most Max_Parameters. In any other text, each ? becomes $n, starting
   --  at $1, and each ?? becomes ?, for operators. Quoted strings, quoted names and comments
   --  (chapter 4.1 of PostgreSQL's manual) are not changed.

   function Is_Copy (Text : String) return Boolean;
   --  Returns True if the text may start a transfer of rows, after which libpq accepts no other
   --  commands in pipeline mode

end Appserver.SQL.PostgreSQL_Texts;
