--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

pragma Ada_2022;

package body Appserver.HTTP.Parsing is

   Max_Chunk_Line_Length : constant := 256;
   --  The maximum number of bytes of a chunk's size and extensions
   Size_Line             : constant := 18;
   --  The number of bytes of a chunk-size line without extensions, with up to 16 digits
   Max_Overhead          : constant := 8_192;
   --  The maximum number of bytes of all extensions, and of the trailer. RFC 9112, 7.1.1 requires
   --  such limits.

   subtype Judgment is Natural range 0 .. Natural (Status_Code'Last);
   --  The result for the bytes so far: Fine, or the status code of the rejection

   Fine : constant Judgment := 0;
   Bad  : constant Judgment := Judgment (Bad_Request);

   -----------
   -- Bytes --
   -----------

   procedure Clear (Self : in out Request) is
   begin
      Self.First   := 1;
      Self.Last    := 0;
      Self.State   := (others => <>);
      Self.Expects := False;
      Self.Is_Read := False;
   end Clear;

   procedure Make_Room (Self : in out Request) is
      Shift : constant Natural := Self.First - 1;

      procedure Move (Place : in out Natural) is
      begin
         Place := Natural'Max (Place, Shift) - Shift;
      end Move;

   begin
      if Shift > 0 then
         Self.Bytes (1 .. Self.Last - Shift) := Self.Bytes (Self.First .. Self.Last);
         Self.First   := 1;
         Self.Is_Read := False;
         Move (Self.Last);
         Move (Self.State.Searched_To);
         Move (Self.State.Header_Last);
         Move (Self.State.Content_Last);
      end if;
   end Make_Room;

   procedure Add (Self : in out Request; Bytes : String) is
   begin
      if Bytes'Length > Self.Capacity - Self.Last then
         Make_Room (Self);
      end if;
      Self.Bytes (Self.Last + 1 .. Self.Last + Bytes'Length) := Bytes;
      Self.Last := Self.Last + Bytes'Length;
   end Add;

   procedure Note_Continue (Self : in out Request) is
   begin
      Self.State.Continued := True;
   end Note_Continue;

   procedure Note_Buffered (Self : in out Request; Max : Byte_Count) is
   begin
      Self.State.Max_Content := Byte_Count'Min (Self.State.Max_Content, Max);
   end Note_Buffered;

   procedure Next (Self : in out Request) is
   begin
      if Self.State.Content_Last = Self.Last then
         Clear (Self);
      else
         Self.First   := Self.State.Content_Last + 1;
         Self.State   := (others => <>);
         Self.Is_Read := False;
      end if;
   end Next;

   ------------
   -- Tokens --
   ------------

   type Character_Set is array (Character) of Boolean;

   In_Token : constant Character_Set := [for C in Character => C in Token_Character];

   In_Value : constant Character_Set :=
     [for C in Character => C not in ASCII.NUL .. ASCII.BS | ASCII.LF .. ASCII.US | ASCII.DEL];
   --  The characters of a field's value: no control characters except tabs (RFC 9110, 5.5)

   In_Path : constant Character_Set :=
     [for C in Character =>
        C in 'A' .. 'Z' | 'a' .. 'z' | '0' .. '9' | '-' | '.' | '_' | '~' | '!' | '$' | '&' | '''
           | '(' | ')' | '*' | '+' | ',' | ';' | '=' | ':' | '@' | '/' | '%'
           | '[' | ']' | '|' | '^'];
   --  The characters of RFC 3986, 3.3 and 3.4, and other characters that browsers send in paths
   --  (WHATWG URL, 1.3)

   In_Query : constant Character_Set :=
     [for C in Character => C not in ASCII.NUL .. ' ' | '#' | ASCII.DEL];
   --  All characters that clients may leave unencoded. "#" would begin a fragment, which is not
   --  sent.

   In_Host : constant Character_Set :=
     [for C in Character =>
        C in 'A' .. 'Z' | 'a' .. 'z' | '0' .. '9' | '-' | '.' | '_' | '~' | '!' | '$' | '&' | '''
           | '(' | ')' | '*' | '+' | ';' | '='];
   --  The characters of a registered name (RFC 3986, 3.2.2), except for the comma, which would join
   --  two hosts, and "%", with which the same host could be written in different ways

   --  Returns True if Text is equal to Word, ignoring case. Word must be in lower case.

   function Is_Word (Text, Word : String) return Boolean is
     (Text'Length = Word'Length
      and then (for all K in Text'Range =>
                  (if Text (K) in 'A' .. 'Z'
                   then Character'Val (Character'Pos (Text (K)) + 32)
                   else Text (K)) = Word (K - Text'First + Word'First)));

   function Is_Authority (Text : String) return Boolean is
      Next : Positive := Text'First;
   begin
      if Text'Length > 0 and then Text (Next) = '[' then
         while Next <= Text'Last and then Text (Next) /= ']' loop
            Next := Next + 1;
         end loop;
         if Next - Text'First < 3
           or else Next > Text'Last
           or else not (for all C of Text (Text'First + 1 .. Next - 1) =>
                          C in '0' .. '9' | 'a' .. 'f' | 'A' .. 'F' | ':' | '.')
         then
            return False;
         end if;
         Next := Next + 1;
      else
         while Next <= Text'Last and then In_Host (Text (Next)) loop
            Next := Next + 1;
         end loop;
      end if;
      return Next > Text'Last
        or else (Text (Next) = ':'
                 and then (for all C of Text (Next + 1 .. Text'Last) => C in '0' .. '9'));
   end Is_Authority;

   --  Removes spaces and tabs at both ends

   procedure Trim (Self : Request; Text : in out Span) is

      function Is_Space (Index : Positive) return Boolean is
        (Self.Bytes (Index) in ' ' | ASCII.HT) with Inline;

   begin
      while Text.First <= Text.Last and then Is_Space (Text.First) loop
         Text.First := Text.First + 1;
      end loop;
      while Text.Last >= Text.First and then Is_Space (Text.Last) loop
         Text.Last := Text.Last - 1;
      end loop;
   end Trim;

   --  Returns the index of the first line end at or after From, or 0

   function Line_Feed (Self : Request; From : Positive) return Natural is
   begin
      for K in From .. Self.Last loop
         if Self.Bytes (K) = ASCII.LF then
            return K;
         end if;
      end loop;
      return 0;
   end Line_Feed;

   ----------------------
   -- The request line --
   ----------------------

   procedure Take_Method (Self : in out Request; Word : String; Result : out Judgment) is
      Found : Boolean := True;
   begin
      if Word = "GET" then
         Self.Kind := Get;
      elsif Word = "POST" then
         Self.Kind := Post;
      elsif Word = "HEAD" then
         Self.Kind := Head;
      elsif Word = "PUT" then
         Self.Kind := Put;
      elsif Word = "DELETE" then
         Self.Kind := Delete;
      elsif Word = "PATCH" then
         Self.Kind := Patch;
      elsif Word = "OPTIONS" then
         Self.Kind := Options;
      else
         Found := False;
      end if;
      Result := (if Found then Fine else Judgment (Not_Implemented));
   end Take_Method;

   --  Parses "/path?query", or nothing. Only the percent-encoding of the path must be well-formed:
   --  a query may contain any "%".

   procedure Take_Path (Self : in out Request; Target : Span; Result : out Judgment) is
      Mark : Positive := Target.First;
   begin
      while Mark <= Target.Last and then Self.Bytes (Mark) /= '?' loop
         Mark := Mark + 1;
      end loop;
      Self.Target     := (Target.First, Mark - 1);
      Self.Query_Part := (if Mark < Target.Last then (Mark + 1, Target.Last) else (1, 0));
      Result :=
        (if (for all C of Self.Bytes (Target.First .. Mark - 1) => In_Path (C))
           and then Is_Encoded (Self.Bytes (Target.First .. Mark - 1))
           and then (for all C of Self.Bytes (Mark + 1 .. Target.Last) => In_Query (C))
         then Fine else Bad);
   end Take_Path;

   --  Parses "http://host:port/path?query" (RFC 9112, 3.2.2)

   procedure Take_Absolute (Self : in out Request; Target : Span; Result : out Judgment) is
      Colon : Positive := Target.First;
      Host  : Span;
   begin
      Result := Bad;
      while Colon < Target.Last and then Self.Bytes (Colon) /= ':' loop
         Colon := Colon + 1;
      end loop;
      if Target.Last - Colon < 3
        or else Self.Bytes (Colon + 1 .. Colon + 2) /= "//"
        or else not (Is_Word (Self.Bytes (Target.First .. Colon - 1), "http")
                     or else Is_Word (Self.Bytes (Target.First .. Colon - 1), "https"))
      then
         return;
      end if;
      Host := (Colon + 3, Colon + 2);
      while Host.Last < Target.Last and then Self.Bytes (Host.Last + 1) not in '/' | '?' loop
         Host.Last := Host.Last + 1;
      end loop;
      if Length (Host) = 0 or else not Is_Authority (Self.Bytes (Host.First .. Host.Last)) then
         return;
      end if;
      Self.Host_Part := Host;
      Take_Path (Self, (Host.Last + 1, Target.Last), Result);
      if Length (Self.Target) = 0 then
         --  An empty path means "/": use one of the slashes before the host
         Self.Target := (Colon + 1, Colon + 1);
      end if;
   end Take_Absolute;

   procedure Take_Target (Self : in out Request; Target : Span; Result : out Judgment) is
      Text : String renames Self.Bytes (Target.First .. Target.Last);
   begin
      Self.Host_Part := (1, 0);
      if Text (Text'First) = '/' then
         Take_Path (Self, Target, Result);
      elsif Text = "*" then
         Take_Path (Self, Target, Result);
         Result := (if Self.Kind = Options then Fine else Bad);
      else
         Take_Absolute (Self, Target, Result);
      end if;
   end Take_Target;

   --  Parses "method target HTTP/1.1", separated by single spaces (RFC 9112, 3)

   procedure Take_Request_Line (Self : in out Request; Line : Span; Result : out Judgment) is
      Method : Span := (Line.First, Line.First - 1);
      Target : Span;
   begin
      Result := Bad;
      if Length (Line) < String'("M / HTTP/1.1")'Length then
         return;
      end if;
      while Method.Last < Line.Last and then In_Token (Self.Bytes (Method.Last + 1)) loop
         Method.Last := Method.Last + 1;
      end loop;
      Target := (Method.Last + 2, Line.Last - String'(" HTTP/1.1")'Length);
      if Length (Method) = 0
        or else Target.Last < Target.First
        or else Self.Bytes (Target.First - 1) /= ' '
        or else Self.Bytes (Target.Last + 1) /= ' '
        or else (for some C of Self.Bytes (Target.First .. Target.Last) => C = ' ')
        or else Self.Bytes (Line.Last - 7 .. Line.Last - 3) /= "HTTP/"
        or else Self.Bytes (Line.Last - 2) not in '0' .. '9'
        or else Self.Bytes (Line.Last - 1) /= '.'
        or else Self.Bytes (Line.Last) not in '0' .. '9'
      then
         return;
      elsif Self.Bytes (Line.Last - 2) /= '1' then
         Result := Judgment (Version_Not_Supported);
         return;
      end if;
      Self.Minor_Version := Character'Pos (Self.Bytes (Line.Last)) - Character'Pos ('0');
      Take_Method (Self, Self.Bytes (Method.First .. Method.Last), Result);
      if Result = Fine then
         Take_Target (Self, Target, Result);
      end if;
   end Take_Request_Line;

   ------------
   -- Fields --
   ------------

   --  The facts from the header that determine the framing of the content and the end of the
   --  connection

   type Findings is record
      Has_Host       : Boolean := False;
      Has_Length     : Boolean := False;
      Length         : Byte_Count := 0;
      Is_Transferred : Boolean := False;
      --  The header has a Transfer-Encoding
      Is_Chunked     : Boolean := False;
      Ends_Chunked   : Boolean := False;
      --  Chunked is preceded by another coding, which is not supported
      Closes         : Boolean := False;
      Keeps          : Boolean := False;
      Is_Strange     : Boolean := False;
      --  The header has an unknown expectation
   end record;

   procedure Take_Length (Found : in out Findings; Value : String; Result : out Judgment) is
   begin
      Result := Bad;
      --  A second Content-Length is rejected even if the value is the same
      if Found.Has_Length
        or else Value'Length = 0
        or else not (for all C of Value => C in '0' .. '9')
      then
         return;
      end if;
      for C of Value loop
         if Found.Length > (Byte_Count'Last - 9) / 10 then
            Found.Length := Byte_Count'Last;
            exit;
         end if;
         Found.Length := Found.Length * 10 + Character'Pos (C) - Character'Pos ('0');
      end loop;
      Found.Has_Length := True;
      Result := Fine;
   end Take_Length;

   Chunked : constant String := "chunked";

   procedure Take_Transfer (Found : in out Findings; Value : String; Result : out Judgment) is
   begin
      --  A second Transfer-Encoding would mean multiple codings
      Result := (if Found.Is_Transferred then Bad else Fine);
      Found.Is_Transferred := True;
      Found.Is_Chunked     := Is_Word (Value, Chunked);
      Found.Ends_Chunked   :=
        Value'Length > Chunked'Length
        and then Is_Word (Value (Value'Last - Chunked'Length + 1 .. Value'Last), Chunked)
        and then Value (Value'Last - Chunked'Length) in ',' | ' ' | ASCII.HT
        and then (for some C of Value => C = ',');
   end Take_Transfer;

   --  Parses words separated by commas (RFC 9110, 7.6.1)

   procedure Take_Connection (Self : Request; Found : in out Findings; Value : Span) is
      First : Positive := Value.First;
      Word  : Span;
   begin
      while First <= Value.Last loop
         Word := (First, First - 1);
         while Word.Last < Value.Last and then Self.Bytes (Word.Last + 1) /= ',' loop
            Word.Last := Word.Last + 1;
         end loop;
         First := Word.Last + 2;
         Trim (Self, Word);
         if Is_Word (Self.Bytes (Word.First .. Word.Last), "close") then
            Found.Closes := True;
         elsif Is_Word (Self.Bytes (Word.First .. Word.Last), "keep-alive") then
            Found.Keeps := True;
         end if;
      end loop;
   end Take_Connection;

   procedure Apply_Field
     (Self        : in out Request;
      Found       : in out Findings;
      Name, Value : Span;
      Result      : out Judgment)
   is
      Name_Text  : String renames Self.Bytes (Name.First .. Name.Last);
      Value_Text : String renames Self.Bytes (Value.First .. Value.Last);
   begin
      Result := Fine;
      case Length (Name) is
         when 4 =>
            if Is_Word (Name_Text, "host") then
               Result := (if Found.Has_Host or else not Is_Authority (Value_Text)
                          then Bad else Fine);
               Found.Has_Host := True;
               if Length (Self.Host_Part) = 0 then
                  Self.Host_Part := Value;
               end if;
            end if;
         when 6 =>
            if Is_Word (Name_Text, "expect") then
               if Is_Word (Value_Text, "100-continue") then
                  Self.Expects := Self.Minor_Version > 0;
               else
                  Found.Is_Strange := True;
               end if;
            end if;
         when 10 =>
            if Is_Word (Name_Text, "connection") then
               Take_Connection (Self, Found, Value);
            end if;
         when 14 =>
            if Is_Word (Name_Text, "content-length") then
               Take_Length (Found, Value_Text, Result);
            end if;
         when 17 =>
            if Is_Word (Name_Text, "transfer-encoding") then
               Take_Transfer (Found, Value_Text, Result);
            end if;
         when others =>
            null;
      end case;
   end Apply_Field;

   --  Parses "name: value" (RFC 9112, 5). A space at the beginning of a line would continue the
   --  previous line (5.2), and a space before the colon would hide a name (5.1). Both are rejected,
   --  since such a name is not a token.

   procedure Find_Field
     (Self : Request; Line : Span; Name, Value : out Span; Result : out Judgment) is
   begin
      Name  := (Line.First, Line.First - 1);
      Value := (1, 0);
      while Name.Last < Line.Last and then In_Token (Self.Bytes (Name.Last + 1)) loop
         Name.Last := Name.Last + 1;
      end loop;
      if Name.Last < Name.First
        or else Name.Last = Line.Last
        or else Self.Bytes (Name.Last + 1) /= ':'
        or else not (for all C of Self.Bytes (Name.Last + 2 .. Line.Last) => In_Value (C))
      then
         Result := Bad;
         return;
      end if;
      Value := (Name.Last + 2, Line.Last);
      Trim (Self, Value);
      Result := Fine;
   end Find_Field;

   procedure Take_Field
     (Self : in out Request; Found : in out Findings; Line : Span; Result : out Judgment)
   is
      Field : Field_Line;
   begin
      Find_Field (Self, Line, Field.Name, Field.Value, Result);
      if Result /= Fine then
         return;
      elsif Self.Line_Count = Max_Fields then
         Result := Judgment (Fields_Too_Large);
         return;
      end if;
      Self.Line_Count := Self.Line_Count + 1;
      Self.Lines (Self.Line_Count) := Field;
      Apply_Field (Self, Found, Field.Name, Field.Value, Result);
   end Take_Field;

   ----------------
   -- The header --
   ----------------

   --  Checks that need the complete header (RFC 9112, 3.2 and 6.3)

   function Judged (Self : Request; Found : Findings) return Judgment is
     (if (Self.Minor_Version > 0 and then not Found.Has_Host)
        or else (Found.Is_Transferred
                 and then (Found.Has_Length or else Self.Minor_Version = 0))
      then Bad
      elsif Found.Is_Transferred and then not Found.Is_Chunked
      then (if Found.Ends_Chunked then Judgment (Not_Implemented) else Bad)
      elsif Found.Is_Strange
      then Judgment (Expectation_Failed)
      else Fine);

   procedure End_Header
     (Self   : in out Request;
      Found  : Findings;
      Limits : Parsing.Limits;
      Last   : Positive;
      Result : out Judgment) is
   begin
      Result := Judged (Self, Found);
      Self.Is_Last := Found.Closes or else (Self.Minor_Version = 0 and then not Found.Keeps);
      Self.Is_Read := Result = Fine;
      if Self.State.Step = In_Header then
         Self.State.Step := (if Found.Is_Chunked then In_Chunk_Size else In_Content);
         Self.State.Header_Last  := Last;
         Self.State.Content_Last := Last;
         Self.State.Remaining    := Found.Length;
         Self.State.Max_Content  := Byte_Count (Limits.Content);
      end if;
   end End_Header;

   --  Parses all complete lines of the header

   procedure Take_Header
     (Self : in out Request; Limits : Parsing.Limits; Result : out Judgment)
   is
      Found : Findings;
      First : Positive := Self.First;
      Last  : Natural;
   begin
      Result := Fine;
      Self.Line_Count := 0;
      Self.Expects    := False;
      loop
         Last := Line_Feed (Self, First);
         if (if Last > 0 then Last else Self.Last + 1) - Self.First >= Limits.Request_Line
           and then First = Self.First
         then
            Result := Judgment (URI_Too_Long);
         elsif (if Last > 0 then Last else Self.Last + 1) - Self.First >= Limits.Header then
            Result := Judgment (Fields_Too_Large);
         elsif Last = 0 then
            Self.State.Searched_To := Self.Last;
            Self.State.Has_Line    := First > Self.First;
            return;
         elsif Last = First or else Self.Bytes (Last - 1) /= ASCII.CR then
            Result := Bad;
         elsif First = Self.First then
            Take_Request_Line (Self, (First, Last - 2), Result);
         elsif Last = First + 1 then
            End_Header (Self, Found, Limits, Last, Result);
            return;
         else
            Take_Field (Self, Found, (First, Last - 2), Result);
         end if;
         exit when Result /= Fine;
         First := Last + 1;
      end loop;
   end Take_Header;

   --  Continues to parse a header. Empty lines before a request are skipped (RFC 9112, 2.2). When
   --  another line is complete, all lines are parsed again from the first, but not before.

   procedure Go_On_With_Header
     (Self : in out Request; Limits : Parsing.Limits; Result : out Judgment)
   is
      function Size return Natural is (Self.Last - Self.First + 1);
   begin
      while Self.Last > Self.First
        and then Self.Bytes (Self.First) = ASCII.CR
        and then Self.Bytes (Self.First + 1) = ASCII.LF
      loop
         Self.First := Self.First + 2;
         Self.State.Searched_To := 0;
      end loop;
      if Self.State.Searched_To >= Self.First
        and then Size < Limits.Header
        and then (Size < Limits.Request_Line or else Self.State.Has_Line)
        and then Line_Feed (Self, Self.State.Searched_To + 1) = 0
      then
         Self.State.Searched_To := Self.Last;
         Result := Fine;
      elsif Is_Empty (Self) then
         Clear (Self);
         Result := Fine;
      else
         Take_Header (Self, Limits, Result);
      end if;
   end Go_On_With_Header;

   ------------
   -- Chunks --
   ------------

   --  The bytes after the content so far, starting at Next, are still in the transfer coding.
   --  Decoded content is moved to the end of the content.

   --  Takes a complete line of at most Max bytes. All bytes except the first Free count as
   --  overhead.

   procedure Take_Line
     (Self   : in out Request;
      Next   : in out Positive;
      Max    : Positive;
      Free   : Natural;
      Line   : out Span;
      Ended  : out Boolean;
      Result : out Judgment)
   is
      Last  : constant Natural := Line_Feed (Self, Next);
      Size  : constant Natural := (if Last > 0 then Last else Self.Last + 1) - Next + 1;
      --  For an incomplete line, this is the minimum length
      Extra : constant Natural := Natural'Max (Size, Free) - Free;
   begin
      Ended  := False;
      Line   := (1, 0);
      Result := Fine;
      if Size > Max or else Extra > Max_Overhead - Self.State.Overhead then
         Result := Bad;
      elsif Last = 0 then
         null;
      elsif Last = Next or else Self.Bytes (Last - 1) /= ASCII.CR then
         Result := Bad;
      else
         Line  := (Next, Last - 2);
         Ended := True;
         Next  := Last + 1;
         Self.State.Overhead := Self.State.Overhead + Extra;
      end if;
   end Take_Line;

   function Digit (C : Character) return Natural is
     (case C is
         when '0' .. '9' => Character'Pos (C) - Character'Pos ('0'),
         when 'A' .. 'F' => Character'Pos (C) - Character'Pos ('A') + 10,
         when others     => Character'Pos (C) - Character'Pos ('a') + 10);

   --  Chunk extensions: any number of ";name", ";name=token" or ";name="quoted"", separated by
   --  spaces (RFC 9112, 7.1.1)

   procedure Skip_Spaces (Self : Request; Next : in out Positive; Last : Natural) is
   begin
      while Next <= Last and then Self.Bytes (Next) in ' ' | ASCII.HT loop
         Next := Next + 1;
      end loop;
   end Skip_Spaces;

   procedure Skip_Token (Self : Request; Next : in out Positive; Last : Natural) is
   begin
      while Next <= Last and then In_Token (Self.Bytes (Next)) loop
         Next := Next + 1;
      end loop;
   end Skip_Token;

   --  Skips a quoted string, from its first quotation mark to the closing one. Skips nothing if
   --  there is no closing mark.

   procedure Skip_Quoted (Self : Request; Next : in out Positive; Last : Natural) is
      Place : Positive := Next + 1;
   begin
      while Place <= Last and then Self.Bytes (Place) /= '"' loop
         Place := Place + (if Self.Bytes (Place) = '\' then 2 else 1);
      end loop;
      if Place <= Last then
         Next := Place + 1;
      end if;
   end Skip_Quoted;

   function Are_Extensions (Self : Request; Text : Span) return Boolean is
      Next  : Positive := Text.First;
      First : Positive;
   begin
      loop
         Skip_Spaces (Self, Next, Text.Last);
         exit when Next > Text.Last;
         if Self.Bytes (Next) /= ';' then
            return False;
         end if;
         Next := Next + 1;
         Skip_Spaces (Self, Next, Text.Last);
         First := Next;
         Skip_Token (Self, Next, Text.Last);
         if Next = First then
            return False;
         end if;
         Skip_Spaces (Self, Next, Text.Last);
         if Next <= Text.Last and then Self.Bytes (Next) = '=' then
            Next := Next + 1;
            Skip_Spaces (Self, Next, Text.Last);
            First := Next;
            if Next <= Text.Last and then Self.Bytes (Next) = '"' then
               Skip_Quoted (Self, Next, Text.Last);
            else
               Skip_Token (Self, Next, Text.Last);
            end if;
            if Next = First then
               return False;
            end if;
         end if;
      end loop;
      return True;
   end Are_Extensions;

   --  Parses "size" or "size;extension", and ignores the extension (RFC 9112, 7.1). Spaces are
   --  allowed only before a semicolon.

   procedure Take_Size (Self : in out Request; Line : Span; Result : out Judgment) is
      Before : constant Byte_Count :=
        Self.State.Delivered + Byte_Count (Self.State.Content_Last - Self.State.Header_Last);
      Size   : Byte_Count := 0;
      Next   : Positive   := Line.First;
   begin
      while Next <= Line.Last
        and then Self.Bytes (Next) in '0' .. '9' | 'A' .. 'F' | 'a' .. 'f'
      loop
         Size := (if Size > (Byte_Count'Last - 15) / 16 then Byte_Count'Last
                  else Size * 16 + Byte_Count (Digit (Self.Bytes (Next))));
         Next := Next + 1;
      end loop;
      if Next = Line.First
        or else (Next <= Line.Last
                 and then (Self.Bytes (Line.Last) in ' ' | ASCII.HT
                           or else not Are_Extensions (Self, (Next, Line.Last))))
        or else not (for all C of Self.Bytes (Next .. Line.Last) => In_Value (C))
      then
         Result := Bad;
      elsif Size > Self.State.Max_Content - Before then
         Result := Judgment (Content_Too_Large);
      else
         Self.State.Remaining := Size;
         Self.State.Step      := (if Size = 0 then In_Trailer else In_Chunk);
         Result := Fine;
      end if;
   end Take_Size;

   procedure Take_Bytes (Self : in out Request; Next : in out Positive) is
      Count : constant Natural :=
        Natural (Byte_Count'Min (Self.State.Remaining, Byte_Count (Self.Last - Next + 1)));
      To    : constant Natural := Self.State.Content_Last;
   begin
      Self.Bytes (To + 1 .. To + Count) := Self.Bytes (Next .. Next + Count - 1);
      Self.State.Content_Last := To + Count;
      Self.State.Remaining    := Self.State.Remaining - Byte_Count (Count);
      Next := Next + Count;
      if Self.State.Remaining = 0 then
         Self.State.Step := Behind_Chunk;
      end if;
   end Take_Bytes;

   --  Processes one step of the transfer coding. Sets Moved to False if more bytes are needed.

   procedure Take_Step
     (Self   : in out Request;
      Next   : in out Positive;
      Moved  : out Boolean;
      Result : out Judgment)
   is
      Line, Name, Value : Span;
   begin
      Result := Fine;
      case Self.State.Step is
         when In_Chunk_Size =>
            Take_Line (Self, Next, Max_Chunk_Line_Length, Size_Line, Line, Moved, Result);
            if Moved then
               Take_Size (Self, Line, Result);
            end if;
         when In_Chunk =>
            Moved := Next <= Self.Last;
            Take_Bytes (Self, Next);
         when Behind_Chunk =>
            Take_Line (Self, Next, 2, 2, Line, Moved, Result);
            if Moved then
               Self.State.Step := In_Chunk_Size;
            elsif Next <= Self.Last and then Self.Bytes (Next) /= ASCII.CR then
               Result := Bad;
            end if;
         when In_Trailer =>
            Take_Line (Self, Next, Max_Overhead, 0, Line, Moved, Result);
            if Moved and then Length (Line) = 0 then
               Self.State.Step := Complete;
            elsif Moved then
               Find_Field (Self, Line, Name, Value, Result);
            end if;
         when others =>
            Moved := False;
      end case;
   end Take_Step;

   procedure Go_On_With_Chunks (Self : in out Request; Result : out Judgment) is
      Next  : Positive := Self.State.Content_Last + 1;
      Moved : Boolean;
   begin
      loop
         Take_Step (Self, Next, Moved, Result);
         exit when Result /= Fine or else not Moved;
      end loop;
      --  Move the remaining bytes to the end of the content
      declare
         To : constant Natural := Self.State.Content_Last;
      begin
         Self.Bytes (To + 1 .. To + Self.Last - Next + 1) := Self.Bytes (Next .. Self.Last);
         Self.Last := To + Self.Last - Next + 1;
      end;
   end Go_On_With_Chunks;

   --------------
   -- The path --
   --------------

   subtype Unreserved is Character with
     Static_Predicate => Unreserved in 'A' .. 'Z' | 'a' .. 'z' | '0' .. '9' | '-' | '.' | '_' | '~';

   --  Moves the bytes before the path

   procedure Move_Beginning (Self : in out Request; By : Positive) is

      procedure Move (Part : in out Span) is
      begin
         if Part.First < Self.Target.First and then Length (Part) > 0 then
            Part := (Part.First + By, Part.Last + By);
         end if;
      end Move;

   begin
      Self.Bytes (Self.First + By .. Self.Target.Last + By) :=
        Self.Bytes (Self.First .. Self.Target.Last);
      Self.First := Self.First + By;
      Move (Self.Host_Part);
      Self.Target := (Self.Target.First + By, Self.Target.Last + By);
   end Move_Beginning;

   --  Decodes the percent-encoding of letters and other unreserved characters, which have the same
   --  meaning with and without encoding (RFC 3986, 6.2.2.2). The bytes before the path are moved
   --  accordingly, so that the request stays contiguous.

   procedure Normalize_Path (Self : in out Request) is
      End_Before : constant Natural := Self.Target.Last;
      Last : Natural  := Self.Target.First - 1;
      Next : Positive := Self.Target.First;
      Byte : Character;
   begin
      while Next <= Self.Target.Last loop
         Byte := Self.Bytes (Next);
         if Byte = '%' then
            Byte := Character'Val
              (Digit (Self.Bytes (Next + 1)) * 16 + Digit (Self.Bytes (Next + 2)));
            if Byte in Unreserved then
               Next := Next + 2;
            else
               Byte := '%';
            end if;
         end if;
         Last := Last + 1;
         Self.Bytes (Last) := Byte;
         Next := Next + 1;
      end loop;
      Self.Target.Last := Last;
      if Last < End_Before then
         Move_Beginning (Self, By => End_Before - Last);
      end if;
   end Normalize_Path;

   -----------
   -- Parse --
   -----------

   procedure Go_On_With_Content (Self : in out Request; Result : out Judgment) is
   begin
      Result := Fine;
      if Self.State.Remaining > Self.State.Max_Content then
         Result := Judgment (Content_Too_Large);
      elsif Byte_Count (Self.Last - Self.State.Header_Last) >= Self.State.Remaining then
         Self.State.Content_Last := Self.State.Header_Last + Natural (Self.State.Remaining);
         Self.State.Step := Complete;
      end if;
   end Go_On_With_Content;

   --  Returns True if the header has just ended, and content follows

   function Is_To_Plan (Self : Request) return Boolean is
     (not Self.State.Is_Planned
      and then (Self.State.Step = In_Chunk_Size
                or else (Self.State.Step = In_Content and then Self.State.Remaining > 0)));

   --  Returns True if parsing can be postponed, because a chunk is incomplete and no policy is
   --  needed. Otherwise, the header would be parsed again for each byte of a chunk size that
   --  arrives separately.

   function Can_Wait (Self : Request; Asks : Boolean) return Boolean is
     (Self.State.Step in In_Chunk_Size .. In_Trailer
      and then Self.Last > Self.State.Header_Last
      and then (Self.State.Is_Planned or else not Asks));

   procedure Parse
     (Self   : in out Request;
      Limits : Parsing.Limits;
      Result : out Outcome;
      Status : out Status_Code;
      Asks   : Boolean := False)
   is
      Waits : constant Boolean := not Self.Is_Read and then Can_Wait (Self, Asks);
      Found : Judgment := Fine;
      Again : Judgment;
   begin
      if Self.State.Step = In_Header then
         Go_On_With_Header (Self, Limits, Found);
      elsif not Self.Is_Read and then not Waits then
         Take_Header (Self, Limits, Found);
      end if;
      Status := OK;
      if Asks and then Found = Fine and then Is_To_Plan (Self) then
         Self.State.Is_Planned := True;
         Normalize_Path (Self);
         Result := Has_Header;
         return;
      end if;
      if Found = Fine then
         if Self.State.Step = In_Content then
            Go_On_With_Content (Self, Found);
         elsif Self.State.Step in In_Chunk_Size .. In_Trailer then
            Go_On_With_Chunks (Self, Found);
         end if;
      end if;
      if Waits and then (Found /= Fine or else Self.State.Step = Complete) then
         Take_Header (Self, Limits, Again);
         pragma Assert (Again = Fine);
      end if;
      if Found /= Fine then
         Result := Refused;
         Status := Status_Code (Found);
      elsif Self.State.Step = Complete then
         Result := Complete;
         Normalize_Path (Self);
      else
         Result := Incomplete;
      end if;
   end Parse;

   -------------
   -- Streams --
   -------------

   procedure Begin_Stream (Self : in out Request; Max : Byte_Count) is
   begin
      Self.First := Self.State.Header_Last + 1;
      Make_Room (Self);
      Self.State.Header_Last  := 0;
      Self.State.Content_Last := 0;
      Self.State.Max_Content  := Max;
   end Begin_Stream;

   procedure Parse_Stream (Self : in out Request; Result : out Outcome; Status : out Status_Code)
   is
      Found : Judgment := Fine;
      Count : Natural;
   begin
      if Self.State.Step = In_Content then
         Count := Natural (Byte_Count'Min (Self.State.Remaining, Byte_Count (Self.Last)));
         Self.State.Content_Last := Count;
         Self.State.Remaining    := Self.State.Remaining - Byte_Count (Count);
         if Self.State.Remaining = 0 then
            Self.State.Step := Complete;
         end if;
      else
         Go_On_With_Chunks (Self, Found);
      end if;
      Status := (if Found = Fine then OK else Status_Code (Found));
      Result :=
        (if Found /= Fine then Refused
         elsif Self.State.Step = Complete then Complete
         else Incomplete);
   end Parse_Stream;

   procedure Drop_Streamed (Self : in out Request) is
      Count : constant Natural := Self.State.Content_Last;
   begin
      Self.Bytes (1 .. Self.Last - Count) := Self.Bytes (Count + 1 .. Self.Last);
      Self.Last               := Self.Last - Count;
      Self.State.Delivered    := Self.State.Delivered + Byte_Count (Count);
      Self.State.Content_Last := 0;
   end Drop_Streamed;

   procedure End_Stream (Self : in out Request; Header_Length : Natural) is
   begin
      Self.Bytes (Header_Length + 1 .. Header_Length + Self.Last) := Self.Bytes (1 .. Self.Last);
      Self.First := 1;
      Self.Last  := Self.Last + Header_Length;
      Self.State.Step         := Complete;
      Self.State.Header_Last  := Header_Length;
      Self.State.Content_Last := Header_Length;
      Self.Is_Read := False;
   end End_Stream;

   procedure End_Stream (Self : in out Request; Header : String) is
   begin
      End_Stream (Self, Header'Length);
      Self.Bytes (1 .. Header'Length) := Header;
   end End_Stream;

end Appserver.HTTP.Parsing;
