--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

pragma Ada_2022;

package body Appserver.Folded_Names is

   use Interfaces;

   procedure Clear (Self : out Page_Name) is
   begin
      Self.Length := 0;
   end Clear;

   procedure Append (Self : in out Page_Name; Text : String) with Inline;
   procedure Append (Self : in out Page_Name; Text : String) is
      Length : constant Natural := Natural'Min (Text'Length, Max_Length - Self.Length);
   begin
      Self.Text (Self.Length + 1 .. Self.Length + Length) :=
        Text (Text'First .. Text'First + Length - 1);
      Self.Length := Self.Length + Length;
   end Append;

   procedure Set (Self : out Page_Name; Name : String) is
   begin
      Self.Length := 0;
      Append (Self, Name);
   end Set;

   -----------
   -- Paths --
   -----------

   type Character_Class is (Digit, Hexadecimal, Dash, Dot, Other);

   Classes : constant array (Character) of Character_Class :=
     ['0' .. '9'              => Digit,
      'a' .. 'f' | 'A' .. 'F' => Hexadecimal,
      '-'                     => Dash,
      '.'                     => Dot,
      others                  => Other];

   type Class_Set is array (Character_Class) of Boolean with Pack;

   function Is_Variable (Has : Class_Set; Length : Natural) return Boolean is
     (Has (Digit)
      and then (Length >= 16
                or else not (Has (Hexadecimal) or Has (Other))
                or else (Length >= 8 and then not (Has (Other) or Has (Dot)))));

   procedure Set_Route (Self : out Page_Name; Method, Path : String) is
      First : Positive := Path'First;
   begin
      Self.Length := 0;
      Append (Self, Method);
      Append (Self, " ");
      while First <= Path'Last loop
         --  First is at a slash, which is followed by a segment
         declare
            Last : Natural   := First;
            Has  : Class_Set := [others => False];
         begin
            while Last < Path'Last and then Path (Last + 1) /= '/' loop
               Last := Last + 1;
               Has (Classes (Path (Last))) := True;
            end loop;
            if Is_Variable (Has, Last - First) then
               Append (Self, "/{id}");
            else
               Append (Self, Path (First .. Last));
            end if;
            First := Last + 1;
         end;
      end loop;
   end Set_Route;

   ------------
   -- Hashes --
   ------------

   --  Hashes eight bytes at a time, padded with zeros after the end. The multiplier is 2 ** 64
   --  divided by the golden ratio (Knuth, The Art of Computer Programming 3, 6.4).

   procedure Mix (Hash : in out Unsigned_64; Bytes : Unsigned_64) with Inline;
   procedure Mix (Hash : in out Unsigned_64; Bytes : Unsigned_64) is
   begin
      Hash := (Hash xor Bytes) * 16#9E37_79B9_7F4A_7C15#;
      Hash := Hash xor Shift_Right (Hash, 32);
   end Mix;

   function Hash (Self : Page_Name) return Unsigned_64 is
      Words      : array (0 .. Room / 8 - 1) of Unsigned_64
        with Import, Address => Self.Text'Address;
      Result     : Unsigned_64      := Unsigned_64 (Self.Length);
      Full_Words : constant Natural := Self.Length / 8;
      Last_Bytes : constant Natural := Self.Length mod 8;
   begin
      for K in 0 .. Full_Words - 1 loop
         Mix (Result, Words (K));
      end loop;
      if Last_Bytes > 0 then
         Mix (Result, Words (Full_Words) and (Shift_Left (Unsigned_64'(1), 8 * Last_Bytes) - 1));
      end if;
      return Result;
   end Hash;

   function Hash (Text : String) return Unsigned_64 is
      Result : Unsigned_64 := Text'Length;
      Bytes  : Unsigned_64 := 0;
      Filled : Natural     := 0;
   begin
      for C of Text loop
         Bytes  := Bytes or Shift_Left (Unsigned_64 (Character'Pos (C)), 8 * Filled);
         Filled := Filled + 1;
         if Filled = 8 then
            Mix (Result, Bytes);
            Bytes  := 0;
            Filled := 0;
         end if;
      end loop;
      if Filled > 0 then
         Mix (Result, Bytes);
      end if;
      return Result;
   end Hash;

   -------------
   -- Queries --
   -------------

   subtype Word_Character is Character
     with Static_Predicate => Word_Character in 'a' .. 'z' | 'A' .. 'Z' | '0' .. '9' | '_'
       | Character'Val (128) .. Character'Val (255);

   subtype White_Space is Character
     with Static_Predicate => White_Space in ' ' | ASCII.HT .. ASCII.CR;

   --  The text is read from left to right: each step takes one token and appends its normalized
   --  form

   type Folding (Length : Natural) is record
      Text    : String (1 .. Length);
      Rules   : Text_Rules;
      Next    : Positive := 1;
      Result  : String (1 .. Max_Query_Length);
      Written : Natural := 0;
      Is_Full : Boolean := False;
   end record;

   function At_Next (Self : Folding; Ahead : Natural := 0) return Character is
     (if Self.Next + Ahead <= Self.Length then Self.Text (Self.Next + Ahead) else ASCII.NUL);

   procedure Put (Self : in out Folding; C : Character) is
   begin
      if Self.Written < Max_Query_Length then
         Self.Written := Self.Written + 1;
         Self.Result (Self.Written) := C;
      else
         Self.Is_Full := True;
      end if;
   end Put;

   function Ends_With (Self : Folding; Text : String) return Boolean is
     (Self.Written >= Text'Length
      and then Self.Result (Self.Written - Text'Length + 1 .. Self.Written) = Text);

   procedure Put_Space (Self : in out Folding) is
   begin
      if Self.Written > 0 and then not Ends_With (Self, " ") then
         Put (Self, ' ');
      end if;
   end Put_Space;

   procedure Put_Value (Self : in out Folding) is
   begin
      if Ends_With (Self, "?, ...,") or else Ends_With (Self, "?, ..., ") then
         Self.Written := Self.Written - (if Ends_With (Self, ", ") then 2 else 1);
      elsif Ends_With (Self, "?,") or else Ends_With (Self, "?, ") then
         if not Ends_With (Self, " ") then
            Put (Self, ' ');
         end if;
         Put (Self, '.');
         Put (Self, '.');
         Put (Self, '.');
      else
         Put (Self, '?');
      end if;
   end Put_Value;

   --  Keeps a quoted name, in which a doubled quotation mark is a part of the name

   procedure Keep_Name (Self : in out Folding) is
      Mark : constant Character := Self.Text (Self.Next);
   begin
      loop
         Put (Self, Self.Text (Self.Next));
         Self.Next := Self.Next + 1;
         exit when Self.Next > Self.Length;
         if Self.Text (Self.Next) = Mark then
            Put (Self, Mark);
            Self.Next := Self.Next + 1;
            exit when At_Next (Self) /= Mark;
         end if;
      end loop;
   end Keep_Name;

   --  Moves to the position after the closing quotation mark of a text. A doubled mark is a part of
   --  the text.

   procedure Skip_Text (Self : in out Folding; Has_Escapes : Boolean) is
      Mark : constant Character := Self.Text (Self.Next);
   begin
      Self.Next := Self.Next + 1;
      while Self.Next <= Self.Length loop
         if At_Next (Self) = Mark then
            exit when At_Next (Self, 1) /= Mark;
            Self.Next := Self.Next + 2;
         else
            Self.Next := Self.Next + (if Has_Escapes and then At_Next (Self) = '\' then 2 else 1);
         end if;
      end loop;
      Self.Next := Self.Next + 1;
   end Skip_Text;

   --  Returns the position of the quotation mark with which a text goes on after a line end; 0 if
   --  the text has ended

   function Continuation (Self : Folding) return Natural is
      Place    : Positive := Self.Next;
      Has_Line : Boolean  := False;
   begin
      while Place <= Self.Length and then Self.Text (Place) in White_Space loop
         Has_Line := Has_Line or else Self.Text (Place) in ASCII.LF | ASCII.CR;
         Place    := Place + 1;
      end loop;
      return (if Has_Line and then Place <= Self.Length and then Self.Text (Place) = '''
              then Place else 0);
   end Continuation;

   --  Skips a text with escapes and its continuations, which have escapes too

   procedure Skip_Escaped_Text (Self : in out Folding) is
      Start : Natural := Self.Next;
   begin
      while Start > 0 loop
         Self.Next := Start;
         Skip_Text (Self, Has_Escapes => True);
         Start := Continuation (Self);
      end loop;
   end Skip_Escaped_Text;

   --  Returns the length of the mark $$ or $tag$ at the next position; 0 if there is none

   function Dollar_Length (Self : Folding) return Natural is
      Length : Positive := 1;
   begin
      if At_Next (Self) /= '$' or else At_Next (Self, 1) in '0' .. '9' then
         return 0;
      end if;
      while At_Next (Self, Length) in Word_Character loop
         Length := Length + 1;
      end loop;
      return (if At_Next (Self, Length) = '$' then Length + 1 else 0);
   end Dollar_Length;

   --  Moves to the position after the second of two marks, or to the end

   procedure Skip_Dollar_Quoted (Self : in out Folding; Length : Positive) is
      Mark : constant String := Self.Text (Self.Next .. Self.Next + Length - 1);
   begin
      Self.Next := Self.Next + Length;
      while Self.Next <= Self.Length loop
         if Self.Length - Self.Next + 1 >= Length
           and then Self.Text (Self.Next .. Self.Next + Length - 1) = Mark
         then
            Self.Next := Self.Next + Length;
            exit;
         end if;
         Self.Next := Self.Next + 1;
      end loop;
   end Skip_Dollar_Quoted;

   function Is_Line_Comment (Self : Folding) return Boolean is
     ((At_Next (Self) = '-' and then At_Next (Self, 1) = '-')
      or else (Self.Rules.Has_Hash_Comments and then At_Next (Self) = '#'));

   function Is_Comment (Self : Folding) return Boolean is
     (Is_Line_Comment (Self) or else (At_Next (Self) = '/' and then At_Next (Self, 1) = '*'));

   procedure Skip_Comment (Self : in out Folding) is
      To_Line_End : constant Boolean := Is_Line_Comment (Self);
   begin
      Self.Next := Self.Next + (if At_Next (Self) = '#' then 1 else 2);
      while Self.Next <= Self.Length loop
         if To_Line_End and then At_Next (Self) = ASCII.LF then
            Self.Next := Self.Next + 1;
            exit;
         elsif not To_Line_End and then At_Next (Self) = '*' and then At_Next (Self, 1) = '/' then
            Self.Next := Self.Next + 2;
            exit;
         end if;
         Self.Next := Self.Next + 1;
      end loop;
   end Skip_Comment;

   procedure Skip_Word (Self : in out Folding; Keeps : Boolean) is
   begin
      while At_Next (Self) in Word_Character
        or else At_Next (Self) = (if Keeps then '$' else '.')
      loop
         if Keeps then
            Put (Self, At_Next (Self));
         end if;
         Self.Next := Self.Next + 1;
      end loop;
   end Skip_Word;

   --  Skips a literal. Is_Skipped is False if there is none.

   procedure Skip_Literal (Self : in out Folding; Is_Skipped : out Boolean) is
      C      : constant Character := At_Next (Self);
      Dollar : constant Natural   := Dollar_Length (Self);
   begin
      Is_Skipped := True;
      if C in 'e' | 'E' and then At_Next (Self, 1) = ''' then
         Put_Value (Self);
         Self.Next := Self.Next + 1;
         Skip_Escaped_Text (Self);
      elsif C = ''' or else (C = '"' and then Self.Rules.Has_Double_Quoted_Texts) then
         Put_Value (Self);
         Skip_Text (Self, Self.Rules.Has_Backslash_Escapes);
      elsif C in '0' .. '9' then
         Put_Value (Self);
         Skip_Word (Self, Keeps => False);
      elsif Dollar > 0 then
         Put_Value (Self);
         Skip_Dollar_Quoted (Self, Dollar);
      else
         Is_Skipped := False;
      end if;
   end Skip_Literal;

   procedure Skip_Token (Self : in out Folding) is
      C          : constant Character := At_Next (Self);
      Is_Skipped : Boolean;
   begin
      Skip_Literal (Self, Is_Skipped);
      if Is_Skipped then
         return;
      end if;
      if C in ' ' | ASCII.HT | ASCII.LF | ASCII.CR | ASCII.FF then
         Put_Space (Self);
         Self.Next := Self.Next + 1;
      elsif Is_Comment (Self) then
         Put_Space (Self);
         Skip_Comment (Self);
      elsif C in '"' | '`' then
         Keep_Name (Self);
      elsif C in '$' | ':' | '@' and then At_Next (Self, 1) in Word_Character
        and then (C = '$' or else Self.Next = 1 or else Self.Text (Self.Next - 1) /= C)
      then
         Put_Value (Self);
         Self.Next := Self.Next + 1;
         Skip_Word (Self, Keeps => False);
      elsif C = '?' then
         Put_Value (Self);
         Self.Next := Self.Next + 1;
         Skip_Word (Self, Keeps => False);
      elsif C in Word_Character then
         Skip_Word (Self, Keeps => True);
      else
         Put (Self, (if C < ' ' then ' ' else C));
         Self.Next := Self.Next + 1;
      end if;
   end Skip_Token;

   function Query (Text : String; Rules : Text_Rules := (others => <>)) return String is
      --  Later characters cannot change the name
      Length : constant Natural := Natural'Min (Text'Length, 8 * Max_Query_Length);
      Self   : Folding (Length);
   begin
      Self.Text  := Text (Text'First .. Text'First + Length - 1);
      Self.Rules := Rules;
      while Self.Next <= Self.Length and then not Self.Is_Full loop
         Skip_Token (Self);
      end loop;
      while Self.Written > 0 and then Self.Result (Self.Written) in ' ' | ';' loop
         Self.Written := Self.Written - 1;
      end loop;
      return Self.Result (1 .. Self.Written);
   end Query;

end Appserver.Folded_Names;
