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

   function Starts (Text : String; Place : Positive; Mark : String) return Boolean is
     (Text'Last - Place + 1 >= Mark'Length
      and then Text (Place .. Place + Mark'Length - 1) = Mark);

   --  Returns True at # and at two dashes that begin a comment, which requires white space after
   --  them

   function Is_Line_Comment (Text : String; Place : Positive) return Boolean is
     (Text (Place) = '#'
      or else (Starts (Text, Place, "--")
               and then (Place + 2 > Text'Last or else Text (Place + 2) in ASCII.NUL .. ' ')));

   function Is_Carried (Text : String; Place : Positive) return Boolean is
     (Starts (Text, Place, "/*!") or else Starts (Text, Place, "/*M!"));

   --  Returns the position after the next Mark, or after the text if there is none

   function Behind (Text, Mark : String; From : Positive) return Positive is
      Found : constant Natural := Ada.Strings.Fixed.Index (Text, Mark, From);
   begin
      return (if Found = 0 then Text'Last + 1 else Found + Mark'Length);
   end Behind;

   function Scanned (Text : String; Backslash_Escapes : Boolean) return Scan is

      Next  : Positive := Text'First;
      Found : Scan (Room => Ada.Strings.Fixed.Count (Text, "?"));

      procedure Skip_Comment is
         Place : constant Natural := Ada.Strings.Fixed.Index (Text, "*/", From => Next);
      begin
         Found.Has_Carried := Found.Has_Carried or else Is_Carried (Text, Next);
         Found.Is_Open     := Found.Is_Open or else Place = 0;
         Next := (if Place = 0 then Text'Last + 1 else Place + 2);
      end Skip_Comment;

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

   begin
      while Next <= Text'Last loop
         if Text (Next) in ''' | '"' | '`' then
            Skip_Quoted (Text (Next));
         elsif Is_Line_Comment (Text, Next) then
            Next := Behind (Text, [1 => ASCII.LF], From => Next);
         elsif Starts (Text, Next, "/*") then
            Skip_Comment;
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

   --  Returns the first word after white space and comments, in upper case

   function First_Word (Text : String) return String is
      First : Positive := Text'First;
      Last  : Natural;
   begin
      while First <= Text'Last loop
         if Text (First) in ' ' | ASCII.HT .. ASCII.CR then
            First := First + 1;
         elsif Is_Line_Comment (Text, First) then
            First := Behind (Text, [1 => ASCII.LF], From => First);
         else
            exit when not Starts (Text, First, "/*") or else Is_Carried (Text, First);
            First := Behind (Text, "*/", From => First);
         end if;
      end loop;
      Last := First - 1;
      while Last < Text'Last and then Text (Last + 1) in 'A' .. 'Z' | 'a' .. 'z' loop
         Last := Last + 1;
      end loop;
      return Ada.Characters.Handling.To_Upper (Text (First .. Last));
   end First_Word;

   function Is_Change (Text : String) return Boolean is
     (First_Word (Text) in "INSERT" | "UPDATE" | "DELETE" | "REPLACE");

   function Changes_Rows (Text : String; Backslash_Escapes : Boolean) return Boolean is
      Found : constant Scan := Scanned (Text, Backslash_Escapes);
   begin
      return Is_Change (Text)
        and then not (Found.Has_Semicolon or else Found.Has_Carried or else Found.Is_Open);
   end Changes_Rows;

end Appserver.SQL.MariaDB_Texts;
