--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Facts of a statement's text: its parameters, and whether it is a COPY.

pragma Ada_2022;

private package Appserver.SQL.PostgreSQL_Texts is

   Most_Parameters : constant := 65_535;
   --  The limit of PostgreSQL's protocol

   type Native_Text (Length : Natural) is record
      Text       : String (1 .. Length);
      Parameters : Natural;
   end record;

   function Native (Text : String) return Native_Text;
   --  A text with a $n is as it was, with as many parameters as its largest n says, at most
   --  Most_Parameters. In another one each ? becomes a $n, from 1 on, and each ?? a ?, as operators
   --  have it. What is in a quoted string or name or in a comment is left alone, as PostgreSQL's
   --  manual describes them in chapter 4.1.

   function Is_Copy (Text : String) return Boolean;
   --  Whether it may begin a transfer of rows, behind which libpq takes nothing in pipeline mode

end Appserver.SQL.PostgreSQL_Texts;
