--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

with Ada.Characters.Handling;
with Ada.Strings.Fixed;
with Ada.Strings.Maps.Constants;
with Ada.Strings.Unbounded;
with GNAT.Regpat;

package body Reference_Reader is

   use Ada.Characters.Handling;
   use Ada.Strings.Fixed;
   use Ada.Strings.Maps;
   use Ada.Strings.Unbounded;

   End_Of_Line : constant String := [ASCII.CR, ASCII.LF];

   Max_Size : constant := 254;
   --  The maximum number of bytes of a chunk's size and extensions

   Refused    : exception;
   Incomplete : exception;

   Letters_And_Digits : constant Character_Set := Constants.Alphanumeric_Set
     and To_Set (Character_Range'(' ', '~'));
   Token_Set  : constant Character_Set := Letters_And_Digits or To_Set ("!#$%&'*+-.^_`|~");
   Value_Set  : constant Character_Set :=
     (To_Set (Character_Range'(' ', Character'Last)) - To_Set (ASCII.DEL)) or To_Set (ASCII.HT);
   Path_Set   : constant Character_Set :=
     Letters_And_Digits or To_Set ("-._~!$&'()*+,;=:@/%[]|^");
   Query_Set  : constant Character_Set :=
     To_Set (Character_Range'('!', Character'Last)) - To_Set ("#" & ASCII.DEL);
   Host_Set   : constant Character_Set :=
     Letters_And_Digits or To_Set ("-._~!$&'()*+;=");
   Digit_Set  : constant Character_Set := Constants.Decimal_Digit_Set;
   Hex_Set    : constant Character_Set := Constants.Hexadecimal_Digit_Set;

   procedure Need (Condition : Boolean) is
   begin
      if not Condition then
         raise Refused;
      end if;
   end Need;

   function Has_Only (Text : String; Set : Character_Set) return Boolean is
     (for all C of Text => Is_In (C, Set));

   function Trimmed (Text : String) return String is
     (Trim (Text, To_Set (" " & ASCII.HT), To_Set (" " & ASCII.HT)));

   --  Returns the text before the next line end, and moves Next to the position after it

   function Line (Bytes : String; Next : in out Positive) return String is
      Feed  : constant Natural := Index (Bytes (Next .. Bytes'Last), [ASCII.LF]);
      First : constant Positive := Next;
   begin
      if Feed = 0 then
         raise Incomplete;
      end if;
      Need (Feed > First and then Bytes (Feed - 1) = ASCII.CR);
      Next := Feed + 1;
      return Bytes (First .. Feed - 2);
   end Line;

   function Is_Authority (Text : String) return Boolean is
      Colon : constant Natural :=
        (if Text /= "" and then Text (Text'First) = '[' then Index (Text, "]") + 1
         elsif Index (Text, ":") > 0 then Index (Text, ":")
         else Text'Last + 1);
   begin
      if Text /= "" and then Text (Text'First) = '[' then
         if Colon < Text'First + 4
           or else not Has_Only (Text (Text'First + 1 .. Colon - 2), Hex_Set or To_Set (":."))
         then
            return False;
         end if;
      elsif not Has_Only (Text (Text'First .. Colon - 1), Host_Set) then
         return False;
      end if;
      return Colon > Text'Last
        or else (Text (Colon) = ':' and then Has_Only (Text (Colon + 1 .. Text'Last), Digit_Set));
   end Is_Authority;

   procedure Need_Encoding (Text : String) is
   begin
      for K in Text'Range loop
         Need (Text (K) /= '%'
               or else (K + 2 <= Text'Last
                        and then Has_Only (Text (K + 1 .. K + 2), Hex_Set)));
      end loop;
   end Need_Encoding;

   --  Decodes the percent-encoding of letters, digits, and - . _ ~

   function Normalized (Path : String) return String is
      Mark : constant Natural := Index (Path, "%");
   begin
      if Mark = 0 then
         return Path;
      end if;
      declare
         Byte : constant Character := Character'Val
           (Integer'Value ("16#" & Path (Mark + 1 .. Mark + 2) & '#'));
         Rest : constant String := Normalized (Path (Mark + 3 .. Path'Last));
      begin
         return Path (Path'First .. Mark - 1)
           & (if Is_In (Byte, Letters_And_Digits or To_Set ("-._~")) then [Byte]
              else Path (Mark .. Mark + 2))
           & Rest;
      end;
   end Normalized;

   type Message is record
      Method     : Unbounded_String;
      Path       : Unbounded_String;
      Query      : Unbounded_String;
      Host       : Unbounded_String;
      Is_Old     : Boolean := False;
      Host_Count : Natural := 0;
      Has_Target_Host : Boolean := False;
      Length     : Unbounded_String;
      Lengths    : Natural := 0;
      Transfer   : Unbounded_String;
      Transfers  : Natural := 0;
      Closes     : Boolean := False;
      Keeps      : Boolean := False;
   end record;

   procedure Read_Target (Target : String; Into : in out Message) is
      Method : constant String := To_String (Into.Method);

      procedure Split (Text : String) is
         Mark : constant Natural := Index (Text, "?");
         Path : constant String := (if Mark = 0 then Text else Text (Text'First .. Mark - 1));
      begin
         Need (Has_Only (Path, Path_Set));
         Need_Encoding (Path);
         Into.Path := To_Unbounded_String (Normalized (Path));
         if Mark > 0 then
            Need (Has_Only (Text (Mark + 1 .. Text'Last), Query_Set));
            Into.Query := To_Unbounded_String (Text (Mark + 1 .. Text'Last));
         end if;
         if Length (Into.Path) = 0 then
            Into.Path := To_Unbounded_String ("/");
         end if;
      end Split;

   begin
      Need (Target /= "");
      if Target (Target'First) = '/' then
         Split (Target);
      elsif Target = "*" then
         Need (Method = "OPTIONS");
         Into.Path := To_Unbounded_String ("*");
      else
         declare
            Behind : constant Natural := Index (Target, "://") + 3;
            Last   : Natural := Behind - 1;
         begin
            Need (Behind > 3);
            Need (To_Lower (Target (Target'First .. Behind - 4)) in "http" | "https");
            while Last < Target'Last and then Target (Last + 1) not in '/' | '?' loop
               Last := Last + 1;
            end loop;
            Need (Last >= Behind and then Is_Authority (Target (Behind .. Last)));
            Into.Host := To_Unbounded_String (Target (Behind .. Last));
            Into.Has_Target_Host := True;
            Split (Target (Last + 1 .. Target'Last));
         end;
      end if;
   end Read_Target;

   procedure Read_Request_Line (Text : String; Into : in out Message) is
      First  : constant Natural := Index (Text, " ");
      Second : constant Natural :=
        (if First = 0 or else First = Text'Last then 0
         else Index (Text (First + 1 .. Text'Last), " "));
   begin
      Need (First > 0 and then Second > 0);
      declare
         Method  : constant String := Text (Text'First .. First - 1);
         Version : constant String := Text (Second + 1 .. Text'Last);
      begin
         Need (Version'Length = 8
               and then Version (Version'First .. Version'First + 6) = "HTTP/1."
               and then Has_Only (Version (Version'Last .. Version'Last), Digit_Set));
         Into.Is_Old := Version (Version'Last) = '0';
         Need (Method in "GET" | "HEAD" | "POST" | "PUT" | "DELETE" | "PATCH" | "OPTIONS");
         Into.Method := To_Unbounded_String (Method);
         Read_Target (Text (First + 1 .. Second - 1), Into);
      end;
   end Read_Request_Line;

   procedure Read_Words (Value : String; Into : in out Message) is
      Comma : constant Natural := Index (Value, ",");
      Word  : constant String  :=
        To_Lower (Trimmed (if Comma = 0 then Value else Value (Value'First .. Comma - 1)));
   begin
      Into.Closes := Into.Closes or else Word = "close";
      Into.Keeps  := Into.Keeps or else Word = "keep-alive";
      if Comma > 0 then
         Read_Words (Value (Comma + 1 .. Value'Last), Into);
      end if;
   end Read_Words;

   procedure Read_Field (Text : String; Into : in out Message) is
      Colon : constant Natural := Index (Text, ":");
   begin
      Need (Colon > Text'First and then Has_Only (Text (Text'First .. Colon - 1), Token_Set));
      Need (Has_Only (Text (Colon + 1 .. Text'Last), Value_Set));
      declare
         Name  : constant String := To_Lower (Text (Text'First .. Colon - 1));
         Value : constant String := Trimmed (Text (Colon + 1 .. Text'Last));
      begin
         if Name = "host" then
            Need (Is_Authority (Value));
            Into.Host_Count := Into.Host_Count + 1;
            if not Into.Has_Target_Host then
               Into.Host := To_Unbounded_String (Value);
            end if;
         elsif Name = "content-length" then
            Need (Value /= "" and then Has_Only (Value, Digit_Set));
            Into.Lengths := Into.Lengths + 1;
            Into.Length  := To_Unbounded_String (Value);
         elsif Name = "transfer-encoding" then
            Into.Transfers := Into.Transfers + 1;
            Into.Transfer  := To_Unbounded_String (To_Lower (Value));
         elsif Name = "connection" then
            Read_Words (Value, Into);
         elsif Name = "expect" then
            Need (To_Lower (Value) = "100-continue");
         end if;
      end;
   end Read_Field;

   Token      : constant String := "[-!#$%&'*+.^_`|~0-9A-Za-z]+";
   Extensions : constant GNAT.Regpat.Pattern_Matcher := GNAT.Regpat.Compile
     ("^([ \t]*;[ \t]*" & Token
      & "([ \t]*=[ \t]*(" & Token & "|""([^""\\]|\\.)*""))?)*$");

   procedure Read_Chunks
     (Bytes : String; Next : in out Positive; Max : Natural; Content : in out Unbounded_String) is
   begin
      loop
         declare
            Text  : constant String  := Line (Bytes, Next);
            Semi  : constant Natural := Index (Text, ";");
            Size  : constant String  :=
              (if Semi = 0 then Text else Trimmed (Text (Text'First .. Semi - 1)));
            Short : constant String  := Trim (Size, To_Set ('0'), Null_Set);
            Count : Natural;
         begin
            Need (Text'Length <= Max_Size);
            Need (Semi = 0
                  or else GNAT.Regpat.Match
                            (Extensions, Text (Text'First + Size'Length .. Text'Last)));
            Need (Text = "" or else Text (Text'First) not in ' ' | ASCII.HT);
            Need (Size /= "" and then Has_Only (Size, Hex_Set) and then Has_Only (Text, Value_Set));
            Need (Short'Length <= 6);
            Count := (if Short = "" then 0 else Natural'Value ("16#" & Short & '#'));
            exit when Count = 0;
            Need (Length (Content) + Count <= Max);
            if Bytes'Last - Next + 1 < Count then
               raise Incomplete;
            end if;
            Append (Content, Bytes (Next .. Next + Count - 1));
            Next := Next + Count;
            for Due of End_Of_Line loop
               if Next > Bytes'Last then
                  raise Incomplete;
               end if;
               Need (Bytes (Next) = Due);
               Next := Next + 1;
            end loop;
         end;
      end loop;
      loop
         declare
            Text    : constant String  := Line (Bytes, Next);
            Colon   : constant Natural := Index (Text, ":");
         begin
            exit when Text = "";
            Need (Colon > Text'First
                  and then Has_Only (Text (Text'First .. Colon - 1), Token_Set)
                  and then Has_Only (Text (Colon + 1 .. Text'Last), Value_Set));
         end;
      end loop;
   end Read_Chunks;

   procedure Read_Content
     (Bytes   : String;
      Next    : in out Positive;
      Head    : Message;
      Max     : Natural;
      Content : in out Unbounded_String)
   is
      Length : constant String := Trim (To_String (Head.Length), To_Set ('0'), Null_Set);
      Size   : Natural;
   begin
      if Head.Transfers > 0 then
         Read_Chunks (Bytes, Next, Max, Content);
      elsif Length /= "" then
         Need (Length'Length <= 6);
         Size := Natural'Value (Length);
         Need (Size <= Max);
         if Bytes'Last - Next + 1 < Size then
            raise Incomplete;
         end if;
         Content := To_Unbounded_String (Bytes (Next .. Next + Size - 1));
         Next := Next + Size;
      end if;
   end Read_Content;

   --  Reads one message, starting at Next

   function Read (Bytes : String; Next : in out Positive; Max : Natural) return String is
      Head    : Message;
      Content : Unbounded_String;
      Lines   : Positive := Next;
   begin
      --  First, the header must be complete
      loop
         exit when Line (Bytes, Lines) = "";
      end loop;
      Read_Request_Line (Line (Bytes, Next), Head);
      loop
         declare
            Text : constant String := Line (Bytes, Next);
         begin
            exit when Text = "";
            Read_Field (Text, Head);
         end;
      end loop;
      Need (Head.Host_Count = 1 or else (Head.Is_Old and then Head.Host_Count = 0));
      Need (Head.Lengths <= 1 and then Head.Transfers <= 1);
      Need (Head.Transfers = 0
            or else (Head.Lengths = 0
                     and then not Head.Is_Old
                     and then Head.Transfer = "chunked"));
      Read_Content (Bytes, Next, Head, Max, Content);
      return (if Head.Method = "HEAD" then "GET (HEAD)" else To_String (Head.Method))
        & ' ' & To_String (Head.Path) & '?' & To_String (Head.Query)
        & '|' & To_String (Head.Host)
        & '|' & To_String (Content)
        & (if Head.Closes or else (Head.Is_Old and then not Head.Keeps) then "|last" else "")
        & (if Head.Is_Old then "|old" else "")
        & ASCII.LF;
   end Read;

   function Outcome (Bytes : String; Max_Content : Natural) return String is
      Result : Unbounded_String;
      Next   : Positive := Bytes'First;
   begin
      loop
         while Bytes'Last > Next and then Bytes (Next .. Next + 1) = End_Of_Line loop
            Next := Next + 2;
         end loop;
         exit when Next > Bytes'Last;
         Append (Result, Read (Bytes, Next, Max_Content));
      end loop;
      return To_String (Result) & "all";
   exception
      when Refused    => return To_String (Result) & "refused";
      when Incomplete => return To_String (Result) & "incomplete";
   end Outcome;

end Reference_Reader;
