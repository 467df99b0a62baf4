--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Finds the parameters in a statement's text, and checks whether it is a COPY.

pragma Ada_2022;

private package Appserver.SQL.PostgreSQL_Texts is

   Max_Parameters : constant := 65_535;
   --  The limit of PostgreSQL's protocol

   type Native_Text (Length : Natural) is record
      Text       : String (1 .. Length);
      Parameters : Natural;
   end record;

   function Native (Text : String) return Native_Text;
   --  A text with a $n is unchanged; its largest n is the number of parameters, at most
   --  Max_Parameters. In any other text each ? becomes a $n, from 1 on, and each ?? a ?, for
   --  operators. Quoted strings, quoted names and comments (chapter 4.1 of PostgreSQL's manual) are
   --  left alone.

   function Is_Copy (Text : String) return Boolean;
   --  True if it may begin a transfer of rows, behind which libpq takes nothing in pipeline mode

end Appserver.SQL.PostgreSQL_Texts;
