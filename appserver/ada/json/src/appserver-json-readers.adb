--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

pragma Ada_2022;

with Appserver.Numerals;
with Appserver.UTF_8;

package body Appserver.JSON.Readers is

   use type UTF_8.Code_Point;

   subtype Hexadecimal_Digit is Character range '0' .. 'f'
     with Static_Predicate => Hexadecimal_Digit in '0' .. '9' | 'A' .. 'F' | 'a' .. 'f';

   function Value_Of (C : Hexadecimal_Digit) return UTF_8.Code_Point is
     (case C is
         when '0' .. '9' => Character'Pos (C) - Character'Pos ('0'),
         when 'A' .. 'F' => Character'Pos (C) - Character'Pos ('A') + 10,
         when 'a' .. 'f' => Character'Pos (C) - Character'Pos ('a') + 10);

   --  Access to the text. Bytes are numbered from 0.

   function Has (Source : String; Offset : Natural) return Boolean is
     (Offset < Source'Length) with Inline;

   function At_Offset (Source : String; Offset : Natural) return Character is
     (Source (Source'First + Offset)) with Inline;

   function Sees (Source : String; Offset : Natural; Expected_Byte : Character) return Boolean is
     (Has (Source, Offset) and then At_Offset (Source, Offset) = Expected_Byte) with Inline;

   -------------
   -- Failing --
   -------------

   procedure Fail_At (Self : in out Reader; Offset : Natural; Reason : Problem) is
   begin
      if Self.Kind /= Failure then
         Self.Kind      := Failure;
         Self.Fault     := Reason;
         Self.Begins    := Offset;
         Self.Is_Peeked := False;
      end if;
   end Fail_At;

   procedure Fail (Self : in out Reader; Why : Problem := Refused) is
   begin
      Fail_At (Self, Self.Begins, Why);
   end Fail;

   --  Fails because the byte at Offset is unexpected or missing

   procedure Fail_At_Byte
     (Self : in out Reader; Source : String; Offset : Natural;
      Reason  : Problem := Unexpected_Character) is
   begin
      Fail_At (Self, Offset, (if Has (Source, Offset) then Reason else Unexpected_End));
   end Fail_At_Byte;

   ------------
   -- Tokens --
   ------------

   procedure Start (Self : in out Reader) is
   begin
      Self.Kind      := Nothing;
      Self.Fault     := None;
      Self.Is_Peeked := False;
      Self.Expected  := Value_Due;
      Self.Consumed  := 0;
      Self.Begins    := 0;
      Self.Ends      := 0;
      Self.Depth     := 0;
   end Start;

   procedure Skip_Space (Self : in out Reader; Source : String) is
   begin
      while Has (Source, Self.Consumed)
        and then At_Offset (Source, Self.Consumed) in ' ' | ASCII.HT | ASCII.LF | ASCII.CR
      loop
         Self.Consumed := Self.Consumed + 1;
      end loop;
   end Skip_Space;

   --  Accepts the token Begins .. Ends; the text after the token starts at Consumed

   procedure Accept_Token (Self : in out Reader; Kind : Token_Kind; Begins, Ends : Natural) is
   begin
      Self.Kind     := Kind;
      Self.Begins   := Begins;
      Self.Ends     := Ends;
      Self.Consumed := Ends;
      Self.Expected := Separator;
   end Accept_Token;

   procedure Open (Self : in out Reader; Is_Object : Boolean) is
   begin
      if Self.Depth = Deepest then
         Fail_At (Self, Self.Consumed, Too_Deep);
         return;
      end if;
      Accept_Token
        (Self, (if Is_Object then Object_Start else Array_Start), Self.Consumed,
         Self.Consumed + 1);
      Self.Depth := Self.Depth + 1;
      Self.Objects (Self.Depth) := Is_Object;
      Self.Expected := (if Is_Object then Member_First else Value_First);
   end Open;

   procedure Close (Self : in out Reader; Source : String) is
      Is_Object : constant Boolean := Self.Objects (Self.Depth);
   begin
      if Sees (Source, Self.Consumed, (if Is_Object then '}' else ']')) then
         Accept_Token
           (Self, (if Is_Object then Object_End else Array_End), Self.Consumed,
            Self.Consumed + 1);
         Self.Depth := Self.Depth - 1;
      else
         Fail_At_Byte (Self, Source, Self.Consumed);
      end if;
   end Close;

   procedure Scan_Literal
     (Self : in out Reader; Source, Literal : String; Kind : Token_Kind) is
   begin
      for K in 1 .. Literal'Length - 1 loop
         if not Sees (Source, Self.Consumed + K, Literal (Literal'First + K)) then
            Fail_At_Byte (Self, Source, Self.Consumed + K, Bad_Literal);
            return;
         end if;
      end loop;
      Accept_Token (Self, Kind, Self.Consumed, Self.Consumed + Literal'Length);
   end Scan_Literal;

   --  Scans a number (RFC 8259, section 6): minus, a zero or digits without a leading zero, a
   --  fraction, an exponent

   procedure Scan_Number (Self : in out Reader; Source : String) is

      Next : Natural := Self.Consumed;

      procedure Pass_Digits is
      begin
         if not (Has (Source, Next) and then At_Offset (Source, Next) in '0' .. '9') then
            Fail_At_Byte (Self, Source, Next, Bad_Number);
            return;
         end if;
         while Has (Source, Next) and then At_Offset (Source, Next) in '0' .. '9' loop
            Next := Next + 1;
         end loop;
      end Pass_Digits;

   begin
      Self.Kind := Nothing;
      if Sees (Source, Next, '-') then
         Next := Next + 1;
      end if;
      if Sees (Source, Next, '0') then
         Next := Next + 1;
      else
         Pass_Digits;
      end if;
      if Sees (Source, Next, '.') then
         Next := Next + 1;
         Pass_Digits;
      end if;
      if Has (Source, Next) and then At_Offset (Source, Next) in 'e' | 'E' then
         Next := Next + 1;
         if Has (Source, Next) and then At_Offset (Source, Next) in '+' | '-' then
            Next := Next + 1;
         end if;
         Pass_Digits;
      end if;
      if not Self.Has_Failed then
         Accept_Token (Self, Number_Value, Self.Consumed, Next);
      end if;
   end Scan_Number;

   --  Scans the four digits after \u at Offset

   procedure Scan_Unit
     (Source : String;
      Offset : Natural;
      Value  : out UTF_8.Code_Point;
      Valid  : out Boolean) is
   begin
      Value := 0;
      Valid := Has (Source, Offset) and then Source'Length - Offset >= 6;
      for K in Offset + 2 .. Offset + 5 loop
         exit when not Valid;
         if At_Offset (Source, K) in Hexadecimal_Digit then
            Value := Value * 16 + Value_Of (At_Offset (Source, K));
         else
            Valid := False;
         end if;
      end loop;
   end Scan_Unit;

   --  Scans the escape that begins with the backslash at Offset. Sets Length to 0 after a failure.

   procedure Scan_Escape
     (Self : in out Reader; Source : String; Offset : Natural; Length : out Natural)
   is
      First, Second : UTF_8.Code_Point;
      Valid         : Boolean;
   begin
      Length := 0;
      if not Has (Source, Offset + 1) then
         Fail_At (Self, Offset + 1, Unexpected_End);
         return;
      end if;
      case At_Offset (Source, Offset + 1) is
         when '"' | '\' | '/' | 'b' | 'f' | 'n' | 'r' | 't' =>
            Length := 2;
         when 'u' =>
            Scan_Unit (Source, Offset, First, Valid);
            if not Valid then
               Fail_At (Self, Offset, Bad_Escape);
            elsif First not in UTF_8.Surrogate then
               Length := 6;
            else
               Valid := First in UTF_8.High_Surrogate
                 and then Sees (Source, Offset + 6, '\')
                 and then Sees (Source, Offset + 7, 'u');
               if Valid then
                  Scan_Unit (Source, Offset + 6, Second, Valid);
                  Valid := Valid and then Second in UTF_8.Low_Surrogate;
               end if;
               if Valid then
                  Length := 12;
               else
                  Fail_At (Self, Offset, Unpaired_Surrogate);
               end if;
            end if;
         when others =>
            Fail_At (Self, Offset, Bad_Escape);
      end case;
   end Scan_Escape;

   --  Characters of a text that need no further check

   Is_Plain : constant array (Character) of Boolean :=
     ['"' | '\' => False, ' ' .. '!' | '#' .. '[' | ']' .. ASCII.DEL => True, others => False];

   --  Skips the escape or multi-byte character at Next

   procedure Scan_Special (Self : in out Reader; Source : String; Next : in out Natural) is
      Length : Natural;
   begin
      case At_Offset (Source, Next) is
         when ASCII.NUL .. ASCII.US =>
            Fail_At (Self, Next, Control_Character);
         when '\' =>
            Self.Escaped := True;
            Scan_Escape (Self, Source, Next, Length);
            Next := Next + Length;
         when others =>
            Length := UTF_8.Length_At (Source, Source'First + Next);
            if Length = 0 then
               Fail_At (Self, Next, Bad_UTF_8);
            end if;
            Next := Next + Length;
      end case;
   end Scan_Special;

   --  Scans a text, starting at the opening quotation mark

   procedure Scan_Text (Self : in out Reader; Source : String; Kind : Token_Kind) is
      Begins : constant Natural := Self.Consumed + 1;
      Next   : Natural := Begins;
   begin
      Self.Escaped := False;
      loop
         while Has (Source, Next) and then Is_Plain (At_Offset (Source, Next)) loop
            Next := Next + 1;
         end loop;
         if not Has (Source, Next) then
            Fail_At (Self, Next, Unexpected_End);
            return;
         elsif At_Offset (Source, Next) = '"' then
            Accept_Token (Self, Kind, Begins, Next);
            Self.Consumed := Next + 1;
            return;
         end if;
         Scan_Special (Self, Source, Next);
         if Self.Has_Failed then
            return;
         end if;
      end loop;
   end Scan_Text;

   procedure Scan_Member (Self : in out Reader; Source : String) is
   begin
      if not Sees (Source, Self.Consumed, '"') then
         Fail_At_Byte (Self, Source, Self.Consumed);
         return;
      end if;
      Scan_Text (Self, Source, Member_Name);
      if Self.Has_Failed then
         return;
      end if;
      Skip_Space (Self, Source);
      if Sees (Source, Self.Consumed, ':') then
         Self.Consumed := Self.Consumed + 1;
         Self.Expected := Value_Due;
      else
         Fail_At_Byte (Self, Source, Self.Consumed);
      end if;
   end Scan_Member;

   procedure Scan_Value (Self : in out Reader; Source : String) is
   begin
      if not Has (Source, Self.Consumed) then
         Fail_At (Self, Self.Consumed, Unexpected_End);
         return;
      end if;
      case At_Offset (Source, Self.Consumed) is
         when '{'              => Open (Self, Is_Object => True);
         when '['              => Open (Self, Is_Object => False);
         when '"'              => Scan_Text (Self, Source, Text_Value);
         when '-' | '0' .. '9' => Scan_Number (Self, Source);
         when 't'              => Scan_Literal (Self, Source, "true", True_Value);
         when 'f'              => Scan_Literal (Self, Source, "false", False_Value);
         when 'n'              => Scan_Literal (Self, Source, "null", Null_Value);
         when others           => Fail_At (Self, Self.Consumed, Unexpected_Character);
      end case;
   end Scan_Value;

   --  Scans what follows a value: the end of the text, array or object, or a comma and the next
   --  member or element

   procedure Scan_Separator (Self : in out Reader; Source : String) is
   begin
      if Self.Depth = 0 then
         if Has (Source, Self.Consumed) then
            Fail_At (Self, Self.Consumed, Text_After_End);
         else
            Accept_Token (Self, Finish, Self.Consumed, Self.Consumed);
         end if;
      elsif Sees (Source, Self.Consumed, ',') then
         Self.Consumed := Self.Consumed + 1;
         Skip_Space (Self, Source);
         if Self.Objects (Self.Depth) then
            Scan_Member (Self, Source);
         else
            Scan_Value (Self, Source);
         end if;
      else
         Close (Self, Source);
      end if;
   end Scan_Separator;

   procedure Advance (Self : in out Reader; Source : String) is
   begin
      if Self.Kind in Finish | Failure then
         return;
      end if;
      Skip_Space (Self, Source);
      case Self.Expected is
         when Separator =>
            Scan_Separator (Self, Source);
         when Value_Due =>
            Scan_Value (Self, Source);
         when Value_First =>
            if Sees (Source, Self.Consumed, ']') then
               Close (Self, Source);
            else
               Scan_Value (Self, Source);
            end if;
         when Member_First =>
            if Sees (Source, Self.Consumed, '}') then
               Close (Self, Source);
            else
               Scan_Member (Self, Source);
            end if;
      end case;
   end Advance;

   procedure Next (Self : in out Reader; Source : String) is
   begin
      if Self.Is_Peeked then
         Self.Is_Peeked := False;
      else
         Advance (Self, Source);
      end if;
   end Next;

   --  Reads the next token without consuming it: the next call to Next returns it again

   procedure Peek (Self : in out Reader; Source : String) is
   begin
      if not Self.Is_Peeked then
         Advance (Self, Source);
         Self.Is_Peeked := Self.Kind not in Finish | Failure;
      end if;
   end Peek;

   --------------
   -- Decoding --
   --------------

   --  Decodes the escape at Offset, which must be well-formed, and returns its length

   function Unescaped (Source : String; Offset : Natural; Length : out Natural) return String is
      First, Second : UTF_8.Code_Point;
      Valid         : Boolean;
   begin
      Length := 2;
      case At_Offset (Source, Offset + 1) is
         when 'b'    => return [ASCII.BS];
         when 'f'    => return [ASCII.FF];
         when 'n'    => return [ASCII.LF];
         when 'r'    => return [ASCII.CR];
         when 't'    => return [ASCII.HT];
         when 'u'    => null;
         when others => return [At_Offset (Source, Offset + 1)];
      end case;
      Scan_Unit (Source, Offset, First, Valid);
      Length := 6;
      if First in UTF_8.High_Surrogate then
         Scan_Unit (Source, Offset + 6, Second, Valid);
         Length := 12;
         First := 16#1_0000# + (First - UTF_8.High_Surrogate'First) * 1_024
           + (Second - UTF_8.Low_Surrogate'First);
      end if;
      return UTF_8.Encoded (First);
   end Unescaped;

   --  Passes the current name or text to Take in pieces, until Take stops

   procedure Decode
     (Self   : Reader;
      Source : String;
      Take   : not null access procedure (Piece : String; More : out Boolean))
   is
      Done   : Natural := Self.Begins;
      Next   : Natural := Self.Begins;
      Length : Natural;
      More   : Boolean := True;
   begin
      while More and then Next < Self.Ends loop
         if At_Offset (Source, Next) = '\' then
            Take (Source (Source'First + Done .. Source'First - 1 + Next), More);
            exit when not More;
            Take (Unescaped (Source, Next, Length), More);
            Next := Next + Length;
            Done := Next;
         else
            Next := Next + 1;
         end if;
      end loop;
      if More then
         Take (Source (Source'First + Done .. Source'First - 1 + Self.Ends), More);
      end if;
   end Decode;

   function Name_Is (Self : Reader; Source, Wanted : String) return Boolean is

      Equal   : Boolean := True;
      Matched : Natural := 0;

      procedure Compare (Piece : String; More : out Boolean) is
      begin
         Equal := Piece'Length <= Wanted'Length - Matched
           and then Wanted (Wanted'First + Matched .. Wanted'First + Matched + Piece'Length - 1)
             = Piece;
         Matched := Matched + Piece'Length;
         More    := Equal;
      end Compare;

   begin
      if not Self.Escaped then
         return Source (Source'First + Self.Begins .. Source'First - 1 + Self.Ends) = Wanted;
      end if;
      Decode (Self, Source, Compare'Access);
      return Equal and then Matched = Wanted'Length;
   end Name_Is;

   ------------
   -- Values --
   ------------

   procedure Expect (Self : in out Reader; Source : String; Expected_Kind : Token_Kind) is
   begin
      Next (Self, Source);
      if Self.Kind /= Expected_Kind then
         Self.Fail (Other_Kind);
      end if;
   end Expect;

   procedure Enter_Object (Self : in out Reader; Source : String) is
   begin
      Expect (Self, Source, Object_Start);
   end Enter_Object;

   procedure Enter_Array (Self : in out Reader; Source : String) is
   begin
      Expect (Self, Source, Array_Start);
   end Enter_Array;

   function Next_Name (Self : in out Reader; Source : String) return Boolean is
   begin
      Next (Self, Source);
      if Self.Kind not in Member_Name | Object_End then
         Self.Fail (Other_Kind);
      end if;
      return Self.Kind = Member_Name;
   end Next_Name;

   function Next_Element (Self : in out Reader; Source : String) return Boolean is
   begin
      Peek (Self, Source);
      case Self.Kind is
         when Array_End =>
            Self.Is_Peeked := False;
            return False;
         when Object_End | Member_Name | Finish =>
            Self.Fail (Other_Kind);
            return False;
         when others =>
            return not Self.Has_Failed;
      end case;
   end Next_Element;

   function Next_Is_Null (Self : in out Reader; Source : String) return Boolean is
   begin
      Peek (Self, Source);
      if Self.Kind = Null_Value then
         Self.Is_Peeked := False;
         return True;
      end if;
      return False;
   end Next_Is_Null;

   function Next_Boolean (Self : in out Reader; Source : String) return Boolean is
   begin
      Next (Self, Source);
      if Self.Kind not in True_Value | False_Value then
         Self.Fail (Other_Kind);
      end if;
      return Self.Kind = True_Value;
   end Next_Boolean;

   function Integer_Value
     (Self        : in out Reader;
      Source      : String;
      First, Last : Integer_64) return Integer_64
   is
      Value  : Integer_64;
      Result : Numerals.Outcome;
   begin
      Numerals.Convert
        (Source (Source'First + Self.Begins .. Source'First - 1 + Self.Ends), Value, Result);
      case Result is
         when Numerals.Not_Whole => Self.Fail (Other_Kind);
         when Numerals.Too_Large => Self.Fail (Out_Of_Range);
         when Numerals.Converted =>
            if Value in First .. Last then
               return Value;
            end if;
            Self.Fail (Out_Of_Range);
      end case;
      return First;
   end Integer_Value;

   function Next_Integer
     (Self        : in out Reader;
      Source      : String;
      First, Last : Integer_64) return Integer_64 is
   begin
      Expect (Self, Source, Number_Value);
      return (if Self.Has_Failed then First else Self.Integer_Value (Source, First, Last));
   end Next_Integer;

   function Float_Value (Self : in out Reader; Source : String) return Long_Float is
      use type Numerals.Outcome;

      Value  : Long_Float;
      Result : Numerals.Outcome;
   begin
      Numerals.Convert
        (Source (Source'First + Self.Begins .. Source'First - 1 + Self.Ends), Value, Result);
      if Result /= Numerals.Converted then
         Self.Fail (Out_Of_Range);
      end if;
      return Value;
   end Float_Value;

   function Next_Float (Self : in out Reader; Source : String) return Long_Float is
   begin
      Expect (Self, Source, Number_Value);
      return (if Self.Has_Failed then 0.0 else Self.Float_Value (Source));
   end Next_Float;

   procedure Read_Text
     (Self : in out Reader; Source : String; Into : in out String; Last : out Natural)
   is
      Used : Natural := 0;

      procedure Append (Piece : String; More : out Boolean) is
      begin
         More := Piece'Length <= Into'Length - Used;
         if More then
            Into (Into'First + Used .. Into'First + Used + Piece'Length - 1) := Piece;
            Used := Used + Piece'Length;
         else
            Self.Fail (Too_Long);
         end if;
      end Append;

      More : Boolean;
   begin
      if Self.Escaped then
         Decode (Self, Source, Append'Access);
      else
         Append (Source (Source'First + Self.Begins .. Source'First - 1 + Self.Ends), More);
      end if;
      Last := (if Self.Has_Failed then Into'First - 1 else Into'First - 1 + Used);
   end Read_Text;

   procedure Next_Text
     (Self : in out Reader; Source : String; Into : in out String; Last : out Natural) is
   begin
      Expect (Self, Source, Text_Value);
      if Self.Has_Failed then
         Last := Into'First - 1;
      else
         Self.Read_Text (Source, Into, Last);
      end if;
   end Next_Text;

   function Next_Text (Self : in out Reader; Source : String) return String is
   begin
      Expect (Self, Source, Text_Value);
      if Self.Has_Failed then
         return "";
      elsif not Self.Escaped then
         return Self.Raw (Source);
      end if;
      declare
         Into : String (1 .. Self.Ends - Self.Begins);
         --  A decoded text is not longer than its escapes
         Last : Natural;
      begin
         Self.Read_Text (Source, Into, Last);
         return Into (1 .. Last);
      end;
   end Next_Text;

   procedure Skip (Self : in out Reader; Source : String) is
      Open : Natural := 0;
   begin
      loop
         Next (Self, Source);
         case Self.Kind is
            when Object_Start | Array_Start => Open := Open + 1;
            when Object_End | Array_End     =>
               if Open = 0 then
                  Self.Fail (Other_Kind);
               else
                  Open := Open - 1;
               end if;
            when Finish | Nothing           => Self.Fail (Other_Kind);
            when others                     => null;
         end case;
         exit when Open = 0 or else Self.Has_Failed;
      end loop;
   end Skip;

   procedure Finish_Reading (Self : in out Reader; Source : String) is
   begin
      Expect (Self, Source, Finish);
   end Finish_Reading;

end Appserver.JSON.Readers;
