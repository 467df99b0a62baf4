--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Objects whose members a program knows: each is named like a value of Member, in lower case.

pragma Ada_2022;

with Appserver.JSON.Readers;

generic
   type Member is (<>);
   type Value (<>) is limited private;

   with procedure Read_Member
     (Into   : in out Value;
      Which  : Member;
      JSON   : in out Readers.Reader;
      Source : String);
   --  Reads the value of that member

package Appserver.JSON.Objects is

   procedure Read (Into : in out Value; JSON : in out Readers.Reader; Source : String);
   --  An object that has each of the members once, in any order. Others are passed over. The reader
   --  fails for one that is missing, or comes twice.

end Appserver.JSON.Objects;
