--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

pragma Ada_2022;

with Ada.Unchecked_Conversion;
with Appserver.UTF_8;
with Interfaces;

package body Appserver.HTTP.Frames is

   use Interfaces;

   Word_Length : constant := 8;

   subtype Word_Text is String (1 .. Word_Length);

   function To_Word is new Ada.Unchecked_Conversion (Word_Text, Unsigned_64);
   function To_Text is new Ada.Unchecked_Conversion (Unsigned_64, Word_Text);

   High_Bits : constant Unsigned_64 := 16#8080_8080_8080_8080#;

   ------------
   -- Header --
   ------------

   function At_Byte (Self : Parser; Index : Positive) return Byte is
     (Character'Pos (Self.Header (Index)));

   function Short_Length (Self : Parser) return Natural is (At_Byte (Self, 2) mod 128);
   function Is_Masked (Self : Parser) return Boolean is (At_Byte (Self, 2) >= 128);

   --  Returns the size of the header, as far as it is known

   function Header_Size (Self : Parser) return Positive is
     (if Self.Header_Length < 2 then 2
      else (case Short_Length (Self) is
               when 126    => 8,
               when 127    => 14,
               when others => 6));

   --  Checks the first two bytes

   function Is_Valid_Start (Self : Parser) return Boolean is
      First      : constant Byte := At_Byte (Self, 1);
      Kind       : constant Opcode := Opcode (First mod 16);
      Is_Final   : constant Boolean := First >= 128;
      Has_Reserved : constant Boolean := First / 16 mod 8 /= 0;
   begin
      return not Has_Reserved
        and then Is_Masked (Self)
        and then (case Kind is
                     when Continuation        => Self.In_Message,
                     when Text | Binary       => not Self.In_Message,
                     when Close | Ping | Pong =>
                       Is_Final and then Short_Length (Self) <= Max_Control_Length,
                     when others              => False)
        and then not (Kind = Close and then Short_Length (Self) = 1);
   end Is_Valid_Start;

   function Payload_Length (Self : Parser) return Unsigned_64 is
      First  : constant Positive := 3;
      Last   : constant Natural  :=
        (case Short_Length (Self) is when 126 => 4, when 127 => 10, when others => 2);
      Result : Unsigned_64 := 0;
   begin
      if Last = 2 then
         return Unsigned_64 (Short_Length (Self));
      end if;
      for K in First .. Last loop
         Result := Result * 256 + Unsigned_64 (At_Byte (Self, K));
      end loop;
      return Result;
   end Payload_Length;

   --  Returns True if the length has the shortest encoding (RFC 6455, 5.2)

   function Is_Minimal (Self : Parser; Length : Unsigned_64) return Boolean is
     (case Short_Length (Self) is
         when 126    => Length > 125,
         when 127    => Length > 65_535 and then Length < 2 ** 63,
         when others => True);

   procedure Fail (Self : in out Parser; Code : Frames.Code; Result : out Event) is
   begin
      Self.Error          := Code;
      Self.Control_Length := 0;
      Result := Has_Failed;
   end Fail;

   procedure Begin_Payload (Self : in out Parser; Max : Positive; Result : in out Event) is
      Length : constant Unsigned_64 := Payload_Length (Self);
      Before : constant Natural := (if Self.In_Message then Self.Message_Length else 0);
   begin
      if not Is_Minimal (Self, Length) then
         Fail (Self, Protocol_Error, Result);
         return;
      end if;
      Self.Kind     := Opcode (At_Byte (Self, 1) mod 16);
      Self.Is_Final := At_Byte (Self, 1) >= 128;
      if Self.Kind < Close and then Length > Unsigned_64 (Max - Natural'Min (Before, Max)) then
         Fail (Self, Too_Big, Result);
         return;
      end if;
      for K in Mask_Index loop
         Self.Mask (K) := At_Byte (Self, Self.Header_Length - 3 + Natural (K));
      end loop;
      Self.Index      := 0;
      Self.Remaining  := Natural (Length);
      Self.In_Payload := True;
      case Self.Kind is
         when Text | Binary =>
            Self.Message_Kind   := Self.Kind;
            Self.Message_Length := Self.Remaining;
            Self.In_Message     := True;
            Self.UTF_8          := (others => <>);
         when Continuation =>
            Self.Message_Length := Self.Message_Length + Self.Remaining;
         when others =>
            Self.Control_Length := 0;
      end case;
   end Begin_Payload;

   procedure Read_Header
     (Self        : in out Parser;
      Max         : Positive;
      Bytes       : String;
      Next        : in out Positive;
      Last        : Natural;
      Result      : in out Event) is
   begin
      while Next <= Last and then Self.Header_Length < Header_Size (Self) loop
         Self.Header_Length := Self.Header_Length + 1;
         Self.Header (Self.Header_Length) := Bytes (Next);
         Next := Next + 1;
         if Self.Header_Length = 2 and then not Is_Valid_Start (Self) then
            Fail (Self, Protocol_Error, Result);
            return;
         end if;
      end loop;
      if Self.Header_Length = Header_Size (Self) then
         Begin_Payload (Self, Max, Result);
      end if;
   end Read_Header;

   -------------
   -- Content --
   -------------

   procedure Check (State : in out UTF_8_State; Value : Byte; Is_Valid : in out Boolean) is
   begin
      if State.Needed > 0 then
         Is_Valid     := Value in State.Lower .. State.Upper;
         State.Needed := State.Needed - 1;
         State.Lower  := 16#80#;
         State.Upper  := 16#BF#;
      else
         case Value is
            when 16#00# .. 16#7F# =>
               null;
            when 16#C2# .. 16#DF# =>
               State.Needed := 1;
            when 16#E0# .. 16#EF# =>
               State.Needed := 2;
               State.Lower  := (if Value = 16#E0# then 16#A0# else 16#80#);
               State.Upper  := (if Value = 16#ED# then 16#9F# else 16#BF#);
            when 16#F0# .. 16#F4# =>
               State.Needed := 3;
               State.Lower  := (if Value = 16#F0# then 16#90# else 16#80#);
               State.Upper  := (if Value = 16#F4# then 16#8F# else 16#BF#);
            when others =>
               Is_Valid := False;
         end case;
      end if;
   end Check;

   --  Returns the mask for eight bytes, of which the first is masked with the first byte of the key

   function Word_Mask (Self : Parser) return Unsigned_64 is
      Result : Word_Text;
      Index  : Mask_Index := 0;
   begin
      for C of Result loop
         C := Character'Val (Self.Mask (Index));
         Index := Index + 1;
      end loop;
      return To_Word (Result);
   end Word_Mask;

   --  Unmasks Count bytes from Next, and moves them to the bytes after Written

   procedure Unmask
     (Self     : in out Parser;
      Bytes    : in out String;
      Next     : in out Positive;
      Count    : Natural;
      Written  : in out Natural;
      Is_Valid : in out Boolean)
   is
      Checks : constant Boolean := Self.Message_Kind = Text;
      Last   : constant Natural := Next + Count - 1;
      Mask   : constant Unsigned_64 := Word_Mask (Self);
      Word   : Unsigned_64 := 0;
      Value  : Byte;
      Is_Whole : Boolean;
      --  True if the next eight bytes can be read at once
   begin
      while Next <= Last loop
         Is_Whole := Last - Next >= Word_Length - 1
           and then Self.Index = 0
           and then Self.UTF_8.Needed = 0;
         if Is_Whole then
            Word := To_Word (Bytes (Next .. Next + Word_Length - 1)) xor Mask;
         end if;
         if Is_Whole and then (not Checks or else (Word and High_Bits) = 0) then
            Bytes (Written + 1 .. Written + Word_Length) := To_Text (Word);
            Written := Written + Word_Length;
            Next    := Next + Word_Length;
         else
            Value := Byte (Unsigned_8 (Character'Pos (Bytes (Next)))
                           xor Unsigned_8 (Self.Mask (Self.Index)));
            Self.Index := Self.Index + 1;
            if Checks then
               Check (Self.UTF_8, Value, Is_Valid);
               exit when not Is_Valid;
            end if;
            Written := Written + 1;
            Bytes (Written) := Character'Val (Value);
            Next := Next + 1;
         end if;
      end loop;
   end Unmask;

   procedure Unmask_Control
     (Self : in out Parser; Bytes : String; Next : in out Positive; Count : Natural) is
   begin
      for C of Bytes (Next .. Next + Count - 1) loop
         Self.Control_Length := Self.Control_Length + 1;
         Self.Control (Self.Control_Length) := Character'Val
           (Unsigned_8 (Character'Pos (C)) xor Unsigned_8 (Self.Mask (Self.Index)));
         Self.Index := Self.Index + 1;
      end loop;
      Next := Next + Count;
   end Unmask_Control;

   -------------------
   -- End of frames --
   -------------------

   function Close_Code (Self : Parser) return Code is
     (if Self.Error /= No_Code then Self.Error
      elsif Self.Control_Length < 2 then No_Code
      else Code (Character'Pos (Self.Control (1)) * 256 + Character'Pos (Self.Control (2))));

   procedure End_Close (Self : in out Parser; Result : out Event) is
   begin
      if Self.Control_Length > 0 and then not Can_Be_Sent (Close_Code (Self)) then
         Fail (Self, Protocol_Error, Result);
      elsif not UTF_8.Is_Valid (Close_Reason (Self)) then
         Fail (Self, Invalid_Content, Result);
      else
         Result := Has_Close;
      end if;
   end End_Close;

   procedure End_Frame (Self : in out Parser; Result : in out Event) is
   begin
      Self.In_Payload    := False;
      Self.Header_Length := 0;
      case Self.Kind is
         when Close  => End_Close (Self, Result);
         when Ping   => Result := Has_Ping;
         when Pong   => Result := Has_Pong;
         when others =>
            if Self.Is_Final and then Self.UTF_8.Needed > 0 then
               Fail (Self, Invalid_Content, Result);
            elsif Self.Is_Final then
               Self.In_Message := False;
               Result := Has_Message;
            end if;
      end case;
   end End_Frame;

   procedure Parse
     (Self    : in out Parser;
      Max     : Positive;
      Bytes   : in out String;
      Next    : in out Positive;
      Last    : Natural;
      Written : in out Natural;
      Result  : out Event)
   is
      Count    : Natural;
      Is_Valid : Boolean := True;
   begin
      Result := Needs_More;
      loop
         if not Self.In_Payload then
            Read_Header (Self, Max, Bytes, Next, Last, Result);
         end if;
         exit when Result = Has_Failed or else not Self.In_Payload;
         Count := Natural'Min (Self.Remaining, Last - Next + 1);
         if Self.Kind >= Close then
            Unmask_Control (Self, Bytes, Next, Count);
         else
            Unmask (Self, Bytes, Next, Count, Written, Is_Valid);
            if not Is_Valid then
               Fail (Self, Invalid_Content, Result);
               exit;
            end if;
         end if;
         Self.Remaining := Self.Remaining - Count;
         exit when Self.Remaining > 0;
         End_Frame (Self, Result);
         exit when Result /= Needs_More;
      end loop;
   end Parse;

   -------------
   -- Writing --
   -------------

   function Header (Kind : Opcode; Length : Natural) return String is
      Result : String (1 .. Max_Header_Length);
      Last   : Positive := 2;
      Rest   : Natural  := Length;
   begin
      Result (1) := Character'Val (128 + Natural (Kind));
      if Length <= 125 then
         Result (2) := Character'Val (Length);
      else
         Last := (if Length <= 65_535 then 4 else 10);
         Result (2) := Character'Val (if Length <= 65_535 then 126 else 127);
         for K in reverse 3 .. Last loop
            Result (K) := Character'Val (Rest mod 256);
            Rest := Rest / 256;
         end loop;
      end if;
      return Result (1 .. Last);
   end Header;

end Appserver.HTTP.Frames;
