--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

pragma Ada_2022;

package body Appserver.HTTP.Multipart is

   --------------
   -- Scanning --
   --------------

   --  Parameters have the form name=value, where value is a token or a quoted string, as in ;
   --  boundary="a b". A value is decoded in place. A backslash escapes a quotation mark or a
   --  backslash. Elsewhere it is an ordinary character, as in file names that browsers send.

   procedure Skip_Spaces (Text : String; Next : in out Positive) is
   begin
      while Next <= Text'Last and then Text (Next) in ' ' | ASCII.HT loop
         Next := Next + 1;
      end loop;
   end Skip_Spaces;

   procedure Take_Token (Text : String; Next : in out Positive; Token : out Span) is
   begin
      Token := (Next, Next - 1);
      while Next <= Text'Last and then Text (Next) in Token_Character loop
         Token.Last := Next;
         Next := Next + 1;
      end loop;
   end Take_Token;

   procedure Take_Quoted
     (Text : in out String; Next : in out Positive; Value : out Span; Is_Valid : out Boolean)
   is
   begin
      Next     := Next + 1;
      Value    := (Next, Next - 1);
      Is_Valid := False;
      while Next <= Text'Last and then Text (Next) /= '"' loop
         if Text (Next) = '\' and then Next < Text'Last and then Text (Next + 1) in '"' | '\' then
            Next := Next + 1;
         end if;
         Value.Last := Value.Last + 1;
         Text (Value.Last) := Text (Next);
         Next := Next + 1;
      end loop;
      if Next <= Text'Last then
         Is_Valid := True;
         Next := Next + 1;
      end if;
   end Take_Quoted;

   --  Reads the next parameter ";name=value", or none at the end

   procedure Take_Parameter
     (Text     : in out String;
      Next     : in out Positive;
      Name     : out Span;
      Value    : out Span;
      Is_Valid : out Boolean)
   is
   begin
      Name     := (1, 0);
      Value    := (1, 0);
      Is_Valid := True;
      Skip_Spaces (Text, Next);
      if Next > Text'Last then
         return;
      end if;
      Is_Valid := False;
      if Text (Next) /= ';' then
         return;
      end if;
      Next := Next + 1;
      Skip_Spaces (Text, Next);
      Take_Token (Text, Next, Name);
      if Length (Name) = 0 or else Next > Text'Last or else Text (Next) /= '=' then
         return;
      end if;
      Next := Next + 1;
      if Next <= Text'Last and then Text (Next) = '"' then
         Take_Quoted (Text, Next, Value, Is_Valid);
      else
         Take_Token (Text, Next, Value);
         Is_Valid := Length (Value) > 0;
      end if;
   end Take_Parameter;

   --------------
   -- Starting --
   --------------

   subtype Boundary_Character is Character with
     Static_Predicate => Boundary_Character in '0' .. '9' | 'A' .. 'Z' | 'a' .. 'z' | '''
       | '(' | ')' | '+' | '_' | ',' | '-' | '.' | '/' | ':' | '=' | '?' | ' ';

   function Is_Boundary (Text : String) return Boolean is
     (Text'Length in 1 .. Max_Boundary_Length
      and then Text (Text'Last) /= ' '
      and then (for all C of Text => C in Boundary_Character));

   Form_Type : constant String := "multipart/form-data";

   procedure Find_Boundary (Text : in out String; Boundary : out Span) is
      Next     : Positive := Text'First + Form_Type'Length;
      Name     : Span;
      Value    : Span;
      Is_Valid : Boolean;
   begin
      Boundary := (1, 0);
      loop
         Take_Parameter (Text, Next, Name, Value, Is_Valid);
         exit when not Is_Valid or else Length (Name) = 0;
         if Same (Text (Name.First .. Name.Last), "boundary") then
            --  A second boundary is rejected, since other software could use the second one
            Is_Valid :=
              Length (Boundary) = 0 and then Is_Boundary (Text (Value.First .. Value.Last));
            exit when not Is_Valid;
            Boundary := Value;
         end if;
      end loop;
      if not Is_Valid then
         Boundary := (1, 0);
      end if;
   end Find_Boundary;

   procedure Start
     (Self : in out Reader'Class; Request : HTTP.Request; Max_Parts : Positive := 100)
   is
      Text     : String := Request.Field ("Content-Type");
      Boundary : Span := (1, 0);
   begin
      if Text'Length > Form_Type'Length
        and then Same (Text (Text'First .. Text'First + Form_Type'Length - 1), Form_Type)
      then
         Find_Boundary (Text, Boundary);
      end if;
      Self.Max_Parts   := Max_Parts;
      Self.Part_Count  := 0;
      Self.Header_Last := 0;
      Self.Line_First  := 1;
      Self.Name_Part   := (1, 0);
      Self.File_Part   := (1, 0);
      Self.Has_File    := False;
      Self.Has_Type    := False;
      --  The first delimiter does not need a preceding line end
      Self.Matched      := 2;
      Self.Unsent_First := 3;
      if Length (Boundary) = 0 then
         Self.State  := Ended;
         Self.Result := Not_A_Form;
      else
         Self.State  := In_Preamble;
         Self.Result := Incomplete;
         Self.Size   := 4 + Length (Boundary);
         Self.Delimiter (1 .. Self.Size) :=
           ASCII.CR & ASCII.LF & "--" & Text (Boundary.First .. Boundary.Last);
      end if;
   end Start;

   ------------
   -- Header --
   ------------

   procedure Fail (Self : in out Reader'Class; Why : Outcome) is
   begin
      Self.Result := Why;
      Self.State  := Ended;
   end Fail;

   --  Parses form-data; name="field"; filename="file.txt" (RFC 7578, 4.2)

   procedure Take_Disposition (Self : in out Reader'Class; Value : Span; Is_Valid : out Boolean) is
      Text  : String renames Self.Header (Value.First .. Value.Last);
      Next  : Positive := Value.First;
      Word  : Span;
      Found : Span;
   begin
      Take_Token (Text, Next, Word);
      Is_Valid := not Self.Has_Name and then Same (Text (Word.First .. Word.Last), "form-data");
      while Is_Valid loop
         Take_Parameter (Text, Next, Word, Found, Is_Valid);
         exit when not Is_Valid or else Length (Word) = 0;
         if Same (Text (Word.First .. Word.Last), "name") then
            Is_Valid       := not Self.Has_Name;
            Self.Has_Name  := True;
            Self.Name_Part := Found;
         elsif Same (Text (Word.First .. Word.Last), "filename") then
            Is_Valid       := not Self.Has_File;
            Self.Has_File  := True;
            Self.File_Part := Found;
         end if;
      end loop;
      Is_Valid := Is_Valid and then Self.Has_Name;
   end Take_Disposition;

   --  Parses a header field of a part. Unknown fields are ignored (RFC 7578, 4.8).

   procedure Take_Line (Self : in out Reader'Class; Line : Span; Is_Valid : out Boolean) is
      Text  : String renames Self.Header (Line.First .. Line.Last);
      Next  : Positive := Line.First;
      Name  : Span;
      Value : Span;

      function Is_Named (Word : String) return Boolean is
        (Same (Text (Name.First .. Name.Last), Word));

      function Is_Value (Word : String) return Boolean is
        (Same (Text (Value.First .. Value.Last), Word));
   begin
      Take_Token (Text, Next, Name);
      Is_Valid := Length (Name) > 0 and then Next <= Line.Last and then Text (Next) = ':';
      if not Is_Valid then
         return;
      end if;
      Value := Trimmed (Text, (Next + 1, Line.Last));
      if Is_Named ("Content-Disposition") then
         Take_Disposition (Self, Value, Is_Valid);
      elsif Is_Named ("Content-Type") then
         Is_Valid       := not Self.Has_Type;
         Self.Has_Type  := True;
         Self.Type_Part := Value;
      elsif Is_Named ("Content-Transfer-Encoding") then
         --  Deprecated (RFC 7578, 4.7). Encoded content is rejected, so that it is not mistaken for
         --  plain content.
         Is_Valid := Is_Value ("binary") or else Is_Value ("8bit") or else Is_Value ("7bit");
      end if;
   end Take_Line;

   procedure End_Header (Self : in out Reader'Class) is
   begin
      if not Self.Has_Name then
         Fail (Self, Malformed);
      else
         Self.State        := In_Part;
         --  A part without content has no separate line end before the delimiter
         Self.Matched      := 2;
         Self.Unsent_First := 3;
         Self.Begin_Part;
      end if;
   end End_Header;

   procedure Begin_Header (Self : in out Reader'Class) is
   begin
      Self.Part_Count  := Self.Part_Count + 1;
      Self.Header_Last := 0;
      Self.Line_First  := 1;
      Self.Has_Name    := False;
      Self.Has_File    := False;
      Self.Has_Type    := False;
      Self.Name_Part   := (1, 0);
      Self.File_Part   := (1, 0);
      if Self.Part_Count > Self.Max_Parts then
         Fail (Self, Too_Many_Parts);
      else
         Self.State := In_Header;
      end if;
   end Begin_Header;

   procedure End_Line (Self : in out Reader'Class) is
      Line     : constant Span := (Self.Line_First, Self.Header_Last - 2);
      Is_Valid : Boolean;
   begin
      if Self.Header_Last - Self.Line_First < 1
        or else Self.Header (Self.Header_Last - 1) /= ASCII.CR
      then
         Fail (Self, Malformed);
      elsif Length (Line) = 0 then
         End_Header (Self);
      else
         Self.Line_First := Self.Header_Last + 1;
         Take_Line (Self, Line, Is_Valid);
         if not Is_Valid then
            Fail (Self, Malformed);
         end if;
      end if;
   end End_Line;

   procedure Take_Header_Byte (Self : in out Reader'Class; Byte : Character) is
      Is_Behind_CR : constant Boolean :=
        Self.Header_Last >= Self.Line_First and then Self.Header (Self.Header_Last) = ASCII.CR;
   begin
      if Self.Header_Last = Self.Header_Capacity then
         Fail (Self, Header_Too_Long);
      elsif Byte in ASCII.NUL .. ASCII.BS | ASCII.VT | ASCII.FF | ASCII.SO .. ASCII.US | ASCII.DEL
        or else Is_Behind_CR /= (Byte = ASCII.LF)
      then
         Fail (Self, Malformed);
      else
         Self.Header_Last := Self.Header_Last + 1;
         Self.Header (Self.Header_Last) := Byte;
         if Byte = ASCII.LF then
            End_Line (Self);
         end if;
      end if;
   end Take_Header_Byte;

   --------------
   -- Contents --
   --------------

   --  A delimiter begins with a carriage return and contains no other carriage return. So if a
   --  delimiter is incomplete, the matched bytes are content, and only the byte that did not match
   --  can begin another delimiter.

   procedure Deliver (Self : in out Reader'Class; Bytes : String) is
   begin
      if Self.State = In_Part and then Bytes'Length > 0 then
         Self.Receive_Part (Bytes);
      end if;
   end Deliver;

   procedure Take_Content (Self : in out Reader'Class; Bytes : String; Next : in out Positive) is
      First : constant Positive := Next;
   begin
      if Self.Matched > 0 and then Bytes (Next) = Self.Delimiter (Self.Matched + 1) then
         Self.Matched := Self.Matched + 1;
         Next := Next + 1;
         if Self.Matched = Self.Size then
            if Self.State = In_Part then
               Self.End_Part;
            end if;
            Self.State := Behind_Boundary;
         end if;
         return;
      elsif Self.Matched > 0 then
         declare
            Size : constant Natural := Self.Matched;
         begin
            Self.Matched := 0;
            Deliver (Self, Self.Delimiter (Self.Unsent_First .. Size));
         end;
      end if;
      while Next <= Bytes'Last and then Bytes (Next) /= ASCII.CR loop
         Next := Next + 1;
      end loop;
      if Next <= Bytes'Last then
         Self.Matched      := 1;
         Self.Unsent_First := 1;
      end if;
      Deliver (Self, Bytes (First .. Next - 1));
      if Self.Matched > 0 then
         Next := Next + 1;
      end if;
   end Take_Content;

   --  After a boundary there are two dashes, or a line end, which may be preceded by spaces

   procedure Take_Boundary_Byte (Self : in out Reader'Class; Byte : Character) is
   begin
      case Self.State is
         when Behind_Boundary | In_Padding =>
            if Byte in ' ' | ASCII.HT then
               Self.State := In_Padding;
            elsif Byte = ASCII.CR then
               Self.State := Before_Line_Feed;
            elsif Byte = '-' and then Self.State = Behind_Boundary then
               Self.State := Behind_Dash;
            else
               Fail (Self, Malformed);
            end if;
         when Behind_Dash =>
            if Byte /= '-' or else Self.Part_Count = 0 then
               Fail (Self, Malformed);
            else
               Self.State  := In_Epilogue;
               Self.Result := Complete;
            end if;
         when others =>
            if Byte /= ASCII.LF then
               Fail (Self, Malformed);
            else
               Begin_Header (Self);
            end if;
      end case;
   end Take_Boundary_Byte;

   procedure Take_All (Self : in out Reader'Class; Bytes : String) is
      Next : Positive := Bytes'First;
   begin
      while Next <= Bytes'Last and then Self.State not in In_Epilogue | Ended loop
         case Self.State is
            when In_Preamble | In_Part =>
               Take_Content (Self, Bytes, Next);
            when In_Header =>
               Take_Header_Byte (Self, Bytes (Next));
               Next := Next + 1;
            when others =>
               Take_Boundary_Byte (Self, Bytes (Next));
               Next := Next + 1;
         end case;
      end loop;
   end Take_All;

   overriding procedure Receive
     (Self : in out Reader; Bytes : String; Wants_More : in out Boolean) is
   begin
      Take_All (Self, Bytes);
      Wants_More := Self.State /= Ended;
   end Receive;

end Appserver.HTTP.Multipart;
