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

   --  The text is read from left to right: each step takes one token and appends its normalized
   --  form

   type Folding (Length : Natural) is record
      Text    : String (1 .. Length);
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

   --  Moves to the position after the closing quotation mark. A doubled mark is part of the
   --  quotation.

   procedure Skip_Quotation (Self : in out Folding; Keeps : Boolean) is
      Mark : constant Character := Self.Text (Self.Next);
   begin
      loop
         if Keeps then
            Put (Self, Self.Text (Self.Next));
         end if;
         Self.Next := Self.Next + 1;
         exit when Self.Next > Self.Length;
         if Self.Text (Self.Next) = Mark then
            if Keeps then
               Put (Self, Mark);
            end if;
            Self.Next := Self.Next + 1;
            exit when At_Next (Self) /= Mark;
         end if;
      end loop;
   end Skip_Quotation;

   procedure Skip_Comment (Self : in out Folding) is
      To_Line_End : constant Boolean := At_Next (Self) = '-';
   begin
      Self.Next := Self.Next + 2;
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
        or else (not Keeps and then At_Next (Self) = '.')
      loop
         if Keeps then
            Put (Self, At_Next (Self));
         end if;
         Self.Next := Self.Next + 1;
      end loop;
   end Skip_Word;

   procedure Skip_Token (Self : in out Folding) is
      C : constant Character := At_Next (Self);
   begin
      if C in ' ' | ASCII.HT | ASCII.LF | ASCII.CR | ASCII.FF then
         Put_Space (Self);
         Self.Next := Self.Next + 1;
      elsif (C = '-' and then At_Next (Self, 1) = '-')
        or else (C = '/' and then At_Next (Self, 1) = '*')
      then
         Put_Space (Self);
         Skip_Comment (Self);
      elsif C = ''' then
         Put_Value (Self);
         Skip_Quotation (Self, Keeps => False);
      elsif C in '"' | '`' then
         Skip_Quotation (Self, Keeps => True);
      elsif C in '0' .. '9' then
         Put_Value (Self);
         Skip_Word (Self, Keeps => False);
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

   function Query (Text : String) return String is
      --  Later characters cannot change the name
      Length : constant Natural := Natural'Min (Text'Length, 8 * Max_Query_Length);
      Self   : Folding (Length);
   begin
      Self.Text := Text (Text'First .. Text'First + Length - 1);
      while Self.Next <= Self.Length and then not Self.Is_Full loop
         Skip_Token (Self);
      end loop;
      while Self.Written > 0 and then Self.Result (Self.Written) in ' ' | ';' loop
         Self.Written := Self.Written - 1;
      end loop;
      return Self.Result (1 .. Self.Written);
   end Query;

end Appserver.Folded_Names;
