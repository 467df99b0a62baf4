--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

pragma Ada_2022;

with Appserver.Numerals;
with Appserver.UTF_8;

package body Appserver.JSON.Writers is

   --  Begins a value. Sets Comma to True if a comma must precede it.

   procedure Begin_Value (Self : in out Writer; Comma : out Boolean) is
   begin
      Comma := Self.Expected = Separator and then Self.Depth > 0;
      Self.Expected := Separator;
   end Begin_Value;

   procedure Put_Comma (Self : in out Writer) is
      Comma : Boolean;
   begin
      Begin_Value (Self, Comma);
      if Comma then
         Self.To.Append (",");
      end if;
   end Put_Comma;

   procedure Open (Self : in out Writer; Is_Object : Boolean) is
   begin
      Put_Comma (Self);
      Self.Depth := Self.Depth + 1;
      Self.Objects (Self.Depth) := Is_Object;
      Self.Expected := (if Is_Object then Member_First else Value_First);
      Self.To.Append (if Is_Object then "{" else "[");
   end Open;

   procedure Close (Self : in out Writer; Bracket : String) is
   begin
      Self.To.Append (Bracket);
      Self.Depth    := Self.Depth - 1;
      Self.Expected := Separator;
   end Close;

   procedure Start_Object (Self : in out Writer) is
   begin
      Open (Self, Is_Object => True);
   end Start_Object;

   procedure End_Object (Self : in out Writer) is
   begin
      Close (Self, "}");
   end End_Object;

   procedure Start_Array (Self : in out Writer) is
   begin
      Open (Self, Is_Object => False);
   end Start_Array;

   procedure End_Array (Self : in out Writer) is
   begin
      Close (Self, "]");
   end End_Array;

   -----------
   -- Texts --
   -----------

   --  Characters that are written without escaping

   Is_Plain : constant array (Character) of Boolean :=
     ['"' | '\' => False, ' ' .. '!' | '#' .. '[' | ']' .. ASCII.DEL => True, others => False];

   function Escape_Of (C : Character) return String is
      Digit_Texts : constant String := "0123456789abcdef";
   begin
      return
        (case C is
            when '"'      => "\""",
            when '\'      => "\\",
            when ASCII.BS => "\b",
            when ASCII.FF => "\f",
            when ASCII.LF => "\n",
            when ASCII.CR => "\r",
            when ASCII.HT => "\t",
            when others   =>
              "\u00" & Digit_Texts (Character'Pos (C) / 16 + 1)
              & Digit_Texts (Character'Pos (C) mod 16 + 1));
   end Escape_Of;

   procedure Append_Escaped (To : in out Text_Sink'Class; Text : String) is

      Done   : Natural := 0;
      Next   : Natural := 0;
      --  The number of bytes that have been written, and that have been checked
      Length : UTF_8.Sequence_Length;

      procedure Flush is
      begin
         if Next > Done then
            To.Append (Text (Text'First + Done .. Text'First - 1 + Next));
         end if;
      end Flush;

      procedure Replace (By : String) is
      begin
         Flush;
         To.Append (By);
         Next := Next + 1;
         Done := Next;
      end Replace;

   begin
      while Next < Text'Length loop
         if Is_Plain (Text (Text'First + Next)) then
            Next := Next + 1;
         elsif Text (Text'First + Next) <= ASCII.DEL then
            Replace (Escape_Of (Text (Text'First + Next)));
         else
            Length := UTF_8.Length_At (Text, Text'First + Next);
            if Length = 0 then
               Replace (UTF_8.Replacement);
            else
               Next := Next + Length;
            end if;
         end if;
      end loop;
      Flush;
   end Append_Escaped;

   --  Short text is appended to the sink as one piece instead of three

   Short : constant := 128;

   procedure Append_Text (To : in out Text_Sink'Class; Before, Text, After : String) is
   begin
      if Text'Length <= Short and then (for all C of Text => Is_Plain (C)) then
         To.Append (Before & Text & After);
      else
         To.Append (Before);
         Append_Escaped (To, Text);
         To.Append (After);
      end if;
   end Append_Text;

   procedure Write_Name (Self : in out Writer; Name : String) is
      Comma : Boolean;
   begin
      Begin_Value (Self, Comma);
      Append_Text (Self.To.all, (if Comma then ",""" else """"), Name, """:");
      Self.Expected := Value_Due;
   end Write_Name;

   procedure Write (Self : in out Writer; Value : String) is
      Comma : Boolean;
   begin
      Begin_Value (Self, Comma);
      Append_Text (Self.To.all, (if Comma then ",""" else """"), Value, """");
   end Write;

   procedure Write (Self : in out Writer; Value : Integer_64) is
   begin
      Put_Comma (Self);
      Numerals.Append (Self.To.all, Value);
   end Write;

   procedure Write (Self : in out Writer; Value : Long_Float) is
   begin
      Put_Comma (Self);
      Numerals.Append (Self.To.all, Value);
   end Write;

   procedure Write (Self : in out Writer; Value : Boolean) is
   begin
      Put_Comma (Self);
      Self.To.Append (if Value then "true" else "false");
   end Write;

   procedure Write_Null (Self : in out Writer) is
   begin
      Put_Comma (Self);
      Self.To.Append ("null");
   end Write_Null;

end Appserver.JSON.Writers;
