--  SPDX-License-Identifier: Apache-2.0

with Appserver.Numerals;
with Appserver.UTF_8;

package body Appserver.JSON.Writers is

   --  The comma that is due before what comes now

   procedure Put_Comma (Self : in out Writer) is
   begin
      if Self.Expected = Separator and then Self.Depth > 0 then
         Self.To.Append (",");
      end if;
      Self.Expected := Separator;
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

   --  What has to be written otherwise than it is, from Text'First + Offset on: its length and what
   --  stands for it. Length is 0 if it is written as it is.

   subtype Control is Character range ASCII.NUL .. ASCII.US;

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

   procedure Append_Text (To : in out Text_Sink'Class; Text : String) is

      Done   : Natural := 0;
      Next   : Natural := 0;
      Length : UTF_8.Sequence_Length;

      --  What was passed since Done as it is, and something for the byte at Next

      procedure Replace (By : String) is
      begin
         if Next > Done then
            To.Append (Text (Text'First + Done .. Text'First - 1 + Next));
         end if;
         To.Append (By);
         Next := Next + 1;
         Done := Next;
      end Replace;

   begin
      To.Append ("""");
      while Next < Text'Length loop
         case Text (Text'First + Next) is
            when Control | '"' | '\' =>
               Replace (Escape_Of (Text (Text'First + Next)));
            when ' ' .. '!' | '#' .. '[' | ']' .. ASCII.DEL =>
               Next := Next + 1;
            when Character'Val (16#80#) .. Character'Val (16#FF#) =>
               Length := UTF_8.Length_At (Text, Text'First + Next);
               if Length = 0 then
                  Replace (UTF_8.Replacement);
               else
                  Next := Next + Length;
               end if;
         end case;
      end loop;
      if Next > Done then
         To.Append (Text (Text'First + Done .. Text'First - 1 + Next));
      end if;
      To.Append ("""");
   end Append_Text;

   procedure Write_Name (Self : in out Writer; Name : String) is
   begin
      Put_Comma (Self);
      Append_Text (Self.To.all, Name);
      Self.To.Append (":");
      Self.Expected := Value_Due;
   end Write_Name;

   procedure Write (Self : in out Writer; Value : String) is
   begin
      Put_Comma (Self);
      Append_Text (Self.To.all, Value);
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
