--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

pragma Ada_2022;

with Ada.Characters.Handling;
with Ada.Strings.Fixed;
with Ada.Strings.Maps;

package body Appserver.SQL.PostgreSQL_Texts is

   subtype Digit is Character range '0' .. '9';

   --  Bytes above 127 are part of letters in UTF-8

   function Is_Name_Part (C : Character) return Boolean is
     (C in 'a' .. 'z' | 'A' .. 'Z' | '_' | Digit or else C > ASCII.DEL);

   function Is_Comment (Text : String; First : Positive) return Boolean is
     (First < Text'Last and then Text (First .. First + 1) in "--" | "/*");

   Line_Ends : constant Ada.Strings.Maps.Character_Set :=
     Ada.Strings.Maps.To_Set (ASCII.LF & ASCII.CR);

   --  Returns the position after the end of the line, or after the text in its last line

   function Behind_Line (Text : String; From : Positive) return Positive is
      Found : constant Natural := Ada.Strings.Fixed.Index (Text, Line_Ends, From);
   begin
      return (if Found = 0 then Text'Last else Found) + 1;
   end Behind_Line;

   --  Returns the position after the next Mark, or after the text if there is none

   function Behind (Text, Mark : String; From : Positive) return Positive is
      Found : constant Natural :=
        (if From > Text'Last then 0 else Ada.Strings.Fixed.Index (Text, Mark, From));
   begin
      return (if Found = 0 then Text'Last + 1 else Found + Mark'Length);
   end Behind;

   --  Returns the position after a comment. Comments /* … */ can be nested.

   function Behind_Comment (Text : String; First : Positive) return Positive is
      Next  : Positive := First;
      Depth : Natural  := 0;
   begin
      if Text (First) = '-' then
         return Behind_Line (Text, From => First);
      end if;
      loop
         if Next < Text'Last and then Text (Next .. Next + 1) = "/*" then
            Depth := Depth + 1;
            Next  := Next + 2;
         elsif Next < Text'Last and then Text (Next .. Next + 1) = "*/" then
            Depth := Depth - 1;
            Next  := Next + 2;
         else
            Next := Next + 1;
         end if;
         exit when Depth = 0 or else Next > Text'Last;
      end loop;
      return Next;
   end Behind_Comment;

   --  Calls Found for each $n, with its Number, and for each single or doubled ?, with 0

   procedure Find_Marks
     (Text              : String;
      Backslash_Escapes : Boolean;
      Found             : not null access procedure
        (First : Positive; Length : Positive; Number : Natural))
   is
      Next : Positive := Text'First;

      function Current return Character is
        (if Next <= Text'Last then Text (Next) else ASCII.NUL);

      function Following return Character is
        (if Next < Text'Last then Text (Next + 1) else ASCII.NUL);

      --  A doubled quote is part of the string

      procedure Skip_Quoted (Quote : Character; Escapes : Boolean) is
      begin
         Next := Next + 1;
         while Next <= Text'Last loop
            if Current = Quote then
               exit when Following /= Quote;
               Next := Next + 2;
            else
               Next := Next + (if Escapes and then Current = '\' then 2 else 1);
            end if;
         end loop;
         Next := Next + 1;
      end Skip_Quoted;

      --  Returns the position of the quote with which a string goes on after a line end; 0 if the
      --  string has ended

      function Continuation return Natural is
         Place    : Positive := Next;
         Has_Line : Boolean  := False;
      begin
         while Place <= Text'Last loop
            if Text (Place) = '-' and then Is_Comment (Text, Place) then
               Place    := Behind_Line (Text, From => Place);
               Has_Line := True;
            elsif Text (Place) in ' ' | ASCII.HT .. ASCII.CR then
               Has_Line := Has_Line or else Text (Place) in ASCII.LF | ASCII.CR;
               Place    := Place + 1;
            else
               return (if Has_Line and then Text (Place) = ''' then Place else 0);
            end if;
         end loop;
         return 0;
      end Continuation;

      --  Skips a string with escapes and its continuations, which have escapes too

      procedure Skip_Escaped is
         Start : Natural := Next;
      begin
         while Start > 0 loop
            Next := Start;
            Skip_Quoted (''', Escapes => True);
            Start := Continuation;
         end loop;
      end Skip_Escaped;

      procedure Skip_Name is
      begin
         while Is_Name_Part (Current) or else Current = '$' loop
            Next := Next + 1;
         end loop;
      end Skip_Name;

      procedure Take_Number is
         First  : constant Positive := Next;
         Number : Natural := 0;
      begin
         Next := Next + 1;
         while Current in Digit loop
            Number := Integer'Min
              (Number * 10 + Character'Pos (Current) - Character'Pos ('0'), Max_Parameters);
            Next := Next + 1;
         end loop;
         Found (First, Next - First, Number);
      end Take_Number;

      procedure Take_Question is
         Length : constant Positive := (if Following = '?' then 2 else 1);
      begin
         Found (Next, Length, 0);
         Next := Next + Length;
      end Take_Question;

      --  Skips $$ … $$ or $tag$ … $tag$

      procedure Skip_Dollar_Quoted is
         Start : constant Positive := Next;
      begin
         Next := Next + 1;
         while Is_Name_Part (Current) loop
            Next := Next + 1;
         end loop;
         if Current = '$' then
            Next := Next + 1;
            Next := Behind (Text, Text (Start .. Next - 1), From => Next);
         end if;
      end Skip_Dollar_Quoted;

   begin
      while Next <= Text'Last loop
         case Text (Next) is
            when ''' =>
               if Backslash_Escapes then
                  Skip_Escaped;
               else
                  Skip_Quoted (''', Escapes => False);
               end if;
            when '"' =>
               Skip_Quoted ('"', Escapes => False);
            when '$' =>
               if Following in Digit then
                  Take_Number;
               else
                  Skip_Dollar_Quoted;
               end if;
            when '?' =>
               Take_Question;
            when others =>
               if Is_Comment (Text, Next) then
                  Next := Behind_Comment (Text, Next);
               elsif Current in 'e' | 'E' and then Following = ''' then
                  Next := Next + 1;
                  Skip_Escaped;
               elsif Is_Name_Part (Current) then
                  Skip_Name;
               else
                  Next := Next + 1;
               end if;
         end case;
      end loop;
   end Find_Marks;

   function Image (Number : Positive) return String is
      Text : constant String := Number'Image;
   begin
      return "$" & Text (2 .. Text'Last);
   end Image;

   function Native (Text : String; Backslash_Escapes : Boolean) return Native_Text is

      Highest : Natural := 0;
      Singles : Natural := 0;
      Total   : Natural := Text'Length;
      --  The length of the text with $n in place of each ?

      procedure Count (First : Positive; Length : Positive; Number : Natural) is
         pragma Unreferenced (First);
      begin
         Highest := Integer'Max (Highest, Number);
         if Number = 0 and then Length = 1 then
            Singles := Singles + 1;
            Total := Total - 1 + Image (Singles)'Length;
         elsif Number = 0 then
            Total := Total - 1;
         end if;
      end Count;

      function Numbered return Native_Text is
         Result : Native_Text (Total);
         Filled : Natural  := 0;
         Start  : Positive := Text'First;
         Number : Natural  := 0;

         procedure Append (Part : String) is
         begin
            Result.Text (Filled + 1 .. Filled + Part'Length) := Part;
            Filled := Filled + Part'Length;
         end Append;

         procedure Replace (First : Positive; Length : Positive; Ignored : Natural) is
            pragma Unreferenced (Ignored);
         begin
            Append (Text (Start .. First - 1));
            Start := First + Length;
            if Length = 2 then
               Append ("?");
            else
               Number := Number + 1;
               Append (Image (Number));
            end if;
         end Replace;
      begin
         Find_Marks (Text, Backslash_Escapes, Replace'Access);
         Append (Text (Start .. Text'Last));
         Result.Parameters := Number;
         return Result;
      end Numbered;

   begin
      Find_Marks (Text, Backslash_Escapes, Count'Access);
      return
        (if Highest > 0 or else (Singles = 0 and then Total = Text'Length)
         then (Text'Length, Text, Highest) else Numbered);
   end Native;

   function Is_Copy (Text : String) return Boolean is

      Word : constant String := "copy";
      Next : Positive        := Text'First;

      subtype Passed_Over is Character
        with Static_Predicate => Passed_Over in ' ' | ';' | ASCII.HT .. ASCII.CR;
   begin
      loop
         if Is_Comment (Text, Next) then
            Next := Behind_Comment (Text, Next);
         elsif Next <= Text'Last and then Text (Next) in Passed_Over then
            Next := Next + 1;
         else
            exit;
         end if;
      end loop;
      return
        Text'Last - Next >= Word'Length
        and then Ada.Characters.Handling.To_Lower (Text (Next .. Next + Word'Length - 1)) = Word
        and then not Is_Name_Part (Text (Next + Word'Length));
   end Is_Copy;

end Appserver.SQL.PostgreSQL_Texts;
