--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

pragma Ada_2022;

with Ada.Characters.Handling;
with Ada.Strings.Fixed;

package body Appserver.SQL.MariaDB_Texts is

   type Scan (Room : Natural) is record
      Parameters    : Position_List (1 .. Room);
      Count         : Natural := 0;
      Has_Semicolon : Boolean := False;
      Has_Carried   : Boolean := False;
      --  True if the text has an executable comment
      Is_Open       : Boolean := False;
      --  True if a string, a name or a comment is not terminated
   end record;

   function Scanned (Text : String; Backslash_Escapes : Boolean) return Scan is

      Next  : Positive := Text'First;
      Found : Scan (Room => Ada.Strings.Fixed.Count (Text, "?"));

      function Starts (Mark : String) return Boolean is
        (Text'Last - Next + 1 >= Mark'Length
         and then Text (Next .. Next + Mark'Length - 1) = Mark);

      --  Skips to the position after the next Mark, or to the end if there is none

      procedure Skip_Past (Mark : String) is
         Place : constant Natural := Ada.Strings.Fixed.Index (Text, Mark, From => Next);
      begin
         Next := (if Place = 0 then Text'Last + 1 else Place + Mark'Length);
         Found.Is_Open := Found.Is_Open or else (Place = 0 and then Mark = "*/");
      end Skip_Past;

      --  A doubled quote is read as the end of one string and the beginning of another, which has
      --  the same effect

      procedure Skip_Quoted (Quote : Character) is
         Escapes : constant Boolean := Backslash_Escapes and then Quote /= '`';
      begin
         Next := Next + 1;
         while Next <= Text'Last and then Text (Next) /= Quote loop
            Next := Next + (if Escapes and then Text (Next) = '\' then 2 else 1);
         end loop;
         Found.Is_Open := Found.Is_Open or else Next > Text'Last;
         Next := Next + 1;
      end Skip_Quoted;

      --  Returns True at two dashes that begin a comment, which requires white space after them

      function Is_Dash_Comment return Boolean is
        (Starts ("--")
         and then (Next + 2 > Text'Last or else Text (Next + 2) in ASCII.NUL .. ' '));

   begin
      while Next <= Text'Last loop
         if Text (Next) in ''' | '"' | '`' then
            Skip_Quoted (Text (Next));
         elsif Text (Next) = '#' or else Is_Dash_Comment then
            Skip_Past ([1 => ASCII.LF]);
         elsif Starts ("/*") then
            Found.Has_Carried := Found.Has_Carried or else Starts ("/*!") or else Starts ("/*M!");
            Skip_Past ("*/");
         else
            if Text (Next) = '?' then
               Found.Count := Found.Count + 1;
               Found.Parameters (Found.Count) := Next;
            elsif Text (Next) = ';' then
               Found.Has_Semicolon := True;
            end if;
            Next := Next + 1;
         end if;
      end loop;
      return Found;
   end Scanned;

   function Parameters_In (Text : String; Backslash_Escapes : Boolean) return Position_List is
      Found : constant Scan := Scanned (Text, Backslash_Escapes);
   begin
      if Found.Has_Carried and then Found.Count > 0 then
         Raise_Error ("0A000", 0, "a text with an executable comment cannot have parameters");
      end if;
      return Found.Parameters (1 .. Found.Count);
   end Parameters_In;

   function First_Word (Text : String) return String is
      First : Positive := Text'First;
      Last  : Natural;
   begin
      while First <= Text'Last and then Text (First) in ASCII.HT | ASCII.LF | ASCII.CR | ' ' loop
         First := First + 1;
      end loop;
      Last := First - 1;
      while Last < Text'Last and then Text (Last + 1) in 'A' .. 'Z' | 'a' .. 'z' loop
         Last := Last + 1;
      end loop;
      return Ada.Characters.Handling.To_Upper (Text (First .. Last));
   end First_Word;

   function Changes_Rows (Text : String; Backslash_Escapes : Boolean) return Boolean is
      Word  : constant String := First_Word (Text);
      Found : constant Scan   := Scanned (Text, Backslash_Escapes);
   begin
      return (Word = "INSERT" or else Word = "UPDATE" or else Word = "DELETE"
              or else Word = "REPLACE")
        and then not (Found.Has_Semicolon or else Found.Has_Carried or else Found.Is_Open);
   end Changes_Rows;

end Appserver.SQL.MariaDB_Texts;
