--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Reads objects with known members. The name of each member is a value of Member in lower case.

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
   --  Reads the value of a member.
   --  @param Into the object
   --  @param Which the member
   --  @param JSON the reader, positioned before the value
   --  @param Source the text

package Appserver.JSON.Objects is

   procedure Read (Into : in out Value; JSON : in out Readers.Reader; Source : String);
   --  Reads an object that contains each member exactly once, in any order. Skips unknown members.
   --  The reader fails if a member is missing or occurs twice.
   --  @param Into the object
   --  @param JSON the reader
   --  @param Source the text

end Appserver.JSON.Objects;
