--  SPDX-License-Identifier: Apache-2.0
--
--  The parameters in a statement's text.

private package Appserver.SQL.PostgreSQL_Texts is

   Most_Parameters : constant := 65_535;
   --  Of PostgreSQL's protocol

   function Parameter_Count (Text : String) return Natural;
   --  The largest n of a $n that is neither in a quoted string or name nor in a comment, as
   --  PostgreSQL's manual describes them in chapter 4.1; at most Most_Parameters

end Appserver.SQL.PostgreSQL_Texts;
