--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

pragma Ada_2022;

package body Appserver.IP_Addresses is

   use Interfaces;

   -------------
   -- Reading --
   -------------

   function Digit_Value (C : Character) return Natural is
     (case C is
         when '0' .. '9' => Character'Pos (C) - Character'Pos ('0'),
         when 'a' .. 'f' => Character'Pos (C) - Character'Pos ('a') + 10,
         when 'A' .. 'F' => Character'Pos (C) - Character'Pos ('A') + 10,
         when others     => 16);

   --  Reads a number of at most Max_Digits digits, without leading zeros if it is decimal, and
   --  moves Next to the position after it

   procedure Read_Number
     (Text       : String;
      Next       : in out Positive;
      Base       : Positive;
      Max_Digits : Positive;
      Number     : out Natural;
      Valid      : out Boolean)
   is
      First : constant Positive := Next;
   begin
      Number := 0;
      while Next <= Text'Last
        and then Next - First < Max_Digits
        and then Digit_Value (Text (Next)) < Base
      loop
         Number := Number * Base + Digit_Value (Text (Next));
         Next   := Next + 1;
      end loop;
      Valid := Next > First
        and then (Base /= 10 or else Next - First = 1 or else Text (First) /= '0');
   end Read_Number;

   --  Parses Text as "a.b.c.d"

   procedure Read_IPv4 (Text : String; Bytes : out Octets; Valid : out Boolean) is
      Next   : Positive := Text'First;
      Number : Natural;
   begin
      Bytes := [others => 0];
      for K in 0 .. 3 loop
         Read_Number (Text, Next, 10, 3, Number, Valid);
         Valid := Valid and then Number <= 255;
         exit when not Valid;
         Bytes (Bytes'First + K) := Unsigned_8 (Number);
         Valid :=
           (if K = 3 then Next = Text'Last + 1
            else Next <= Text'Last and then Text (Next) = '.');
         exit when not Valid;
         Next := Next + 1;
      end loop;
   end Read_IPv4;

   --  Parses groups separated by ":". One "::" stands for omitted groups, and the last two groups
   --  may be an IPv4 address.

   procedure Read_IPv6 (Text : String; Bytes : out Octets; Valid : out Boolean) is
      Next   : Positive := Text'First;
      Count  : Natural  := 0;
      --  The number of bytes that have been read
      Gap    : Integer  := -1;
      --  The number of bytes before the "::"
      Number : Natural;

      function Is_At (Part : String) return Boolean is
        (Text'Last - Next >= Part'Length - 1
         and then Text (Next .. Next + Part'Length - 1) = Part);

   begin
      Bytes := [others => 0];
      Valid := True;
      if Is_At ("::") then
         Gap  := 0;
         Next := Next + 2;
      end if;
      while Next <= Text'Last loop
         Valid := False;
         exit when Count > 14;
         if Count <= 12 and then (for some C of Text (Next .. Text'Last) => C = '.')
           and then not (for some C of Text (Next .. Text'Last) => C = ':')
         then
            Read_IPv4 (Text (Next .. Text'Last), Bytes (Count + 1 .. Count + 4), Valid);
            Count := Count + 4;
            exit;
         end if;
         Read_Number (Text, Next, 16, 4, Number, Valid);
         exit when not Valid;
         Bytes (Count + 1) := Unsigned_8 (Number / 256);
         Bytes (Count + 2) := Unsigned_8 (Number mod 256);
         Count := Count + 2;
         exit when Next > Text'Last;
         Valid := Text (Next) = ':' and then Next < Text'Last;
         exit when not Valid;
         if Is_At ("::") then
            Valid := Gap < 0;
            exit when not Valid;
            Gap  := Count;
            Next := Next + 2;
         else
            Next := Next + 1;
         end if;
      end loop;
      if Gap >= 0 then
         Valid := Valid and then Count <= 14;
         if Valid then
            --  Move the bytes after the gap to the end
            Bytes (17 - (Count - Gap) .. 16) := Bytes (Gap + 1 .. Count);
            Bytes (Gap + 1 .. 16 - (Count - Gap)) := [others => 0];
         end if;
      else
         Valid := Valid and then Count = 16;
      end if;
   end Read_IPv6;

   Max_Address_Length : constant := 45;
   --  The address has six groups followed by an IPv4 address

   procedure Read (Text : String; Result : out Address; Valid : out Boolean) is
   begin
      Result := No_Address;
      if Text'Length not in 2 .. Max_Address_Length then
         Valid := False;
      elsif (for some C of Text => C = ':') then
         Read_IPv6 (Text, Result.Bytes, Valid);
      else
         Result.Bytes (1 .. 12) := IPv4_Prefix;
         Read_IPv4 (Text, Result.Bytes (13 .. 16), Valid);
      end if;
   end Read;

   function Is_Address (Text : String) return Boolean is
      Ignored : Address;
      Valid   : Boolean;
   begin
      Read (Text, Ignored, Valid);
      return Valid;
   end Is_Address;

   function Value (Text : String) return Address is
      Valid : Boolean;
   begin
      return Result : Address do
         Read (Text, Result, Valid);
         if not Valid then
            raise Address_Error with "not a valid IP address";
         end if;
      end return;
   end Value;

   -------------
   -- Writing --
   -------------

   function Decimal (Byte : Unsigned_8) return String is
      Text : constant String := Byte'Image;
   begin
      return Text (2 .. Text'Last);
   end Decimal;

   function Group (Self : Address; Index : Positive) return Natural is
     (Natural (Self.Bytes (2 * Index - 1)) * 256 + Natural (Self.Bytes (2 * Index)));

   --  Finds the first of the longest runs of zero groups. A single group is not a run (RFC 5952,
   --  4.2).

   procedure Find_Zeros (Self : Address; First, Count : out Natural) is
      Run : Natural := 0;
   begin
      First := 0;
      Count := 1;
      for K in 1 .. 8 loop
         Run := (if Group (Self, K) = 0 then Run + 1 else 0);
         if Run > Count then
            Count := Run;
            First := K - Run + 1;
         end if;
      end loop;
      if First = 0 then
         Count := 0;
      end if;
   end Find_Zeros;

   function Image (Self : Address) return String is
      Text  : String (1 .. Max_Address_Length);
      Last  : Natural := 0;
      First : Natural;
      Count : Natural;

      procedure Add (Part : String) is
      begin
         Text (Last + 1 .. Last + Part'Length) := Part;
         Last := Last + Part'Length;
      end Add;

      procedure Add_Group (Value : Natural) is
         Hex_Digits : constant String := "0123456789abcdef";
         Divisor    : Positive := 4_096;
         Started    : Boolean := False;
      begin
         for K in 1 .. 4 loop
            Started := Started or else Value >= Divisor or else K = 4;
            if Started then
               Add ([Hex_Digits (Value / Divisor mod 16 + 1)]);
            end if;
            Divisor := Integer'Max (Divisor / 16, 1);
         end loop;
      end Add_Group;

   begin
      if Is_IPv4 (Self) then
         return Decimal (Self.Bytes (13)) & '.' & Decimal (Self.Bytes (14)) & '.'
           & Decimal (Self.Bytes (15)) & '.' & Decimal (Self.Bytes (16));
      end if;
      Find_Zeros (Self, First, Count);
      for K in 1 .. 8 loop
         if Count > 0 and then K = First then
            Add ("::");
         elsif K not in First .. First + Count - 1 then
            if K > 1 and then K /= First + Count then
               Add (":");
            end if;
            Add_Group (Group (Self, K));
         end if;
      end loop;
      return Text (1 .. Last);
   end Image;

   ------------
   -- Blocks --
   ------------

   function Block (Text : String) return Address_Block is
      Slash  : Natural := Text'Last + 1;
      Next   : Positive;
      Bits   : Natural;
      Valid  : Boolean;
      Result : Address_Block;
   begin
      for K in Text'Range loop
         if Text (K) = '/' then
            Slash := K;
            exit;
         end if;
      end loop;
      Result.First := Value (Text (Text'First .. Slash - 1));
      if Slash <= Text'Last then
         Next := Slash + 1;
         Read_Number (Text, Next, 10, 3, Bits, Valid);
         if Is_IPv4 (Result.First) and then (for all C of Text => C /= ':') then
            Bits := Bits + 96;
         end if;
         if not Valid or else Next <= Text'Last or else Bits > 128 then
            raise Address_Error with "not a valid block of IP addresses";
         end if;
         Result.Bits := Bits;
      end if;
      return Result;
   end Block;

   function Contains (Self : Address_Block; Item : Address) return Boolean is
      Whole : constant Natural := Self.Bits / 8;
      Rest  : constant Natural := Self.Bits mod 8;
   begin
      return Is_IPv4 (Self.First) = Is_IPv4 (Item)
        and then Self.First.Bytes (1 .. Whole) = Item.Bytes (1 .. Whole)
        and then (Rest = 0
                  or else Shift_Right
                            (Self.First.Bytes (Whole + 1) xor Item.Bytes (Whole + 1),
                             8 - Rest) = 0);
   end Contains;

end Appserver.IP_Addresses;
