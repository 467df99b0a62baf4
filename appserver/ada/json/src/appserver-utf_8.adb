--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

pragma Ada_2022;

package body Appserver.UTF_8 is

   subtype Byte is Natural range 0 .. 255;

   function Byte_At (Text : String; Index : Positive) return Byte is
     (Character'Pos (Text (Index))) with Inline;

   --  Checks for the well-formed sequences of RFC 3629, section 4: the range of the second byte
   --  depends on the first byte, and all other bytes are tails

   function Length_At (Text : String; Index : Positive) return Sequence_Length is

      Left : constant Natural := Text'Last - Index;
      --  The number of bytes after the first

      function Is_Tail (Offset : Positive) return Boolean is
        (Byte_At (Text, Index + Offset) in 16#80# .. 16#BF#);

      function Found (Length : Sequence_Length; Low, High : Byte) return Sequence_Length is
        (if Left >= Length - 1
           and then Byte_At (Text, Index + 1) in Low .. High
           and then (Length < 3 or else Is_Tail (2))
           and then (Length < 4 or else Is_Tail (3))
         then Length else 0);
   begin
      case Byte_At (Text, Index) is
         when 16#00# .. 16#7F#                   => return 1;
         when 16#C2# .. 16#DF#                   => return Found (2, 16#80#, 16#BF#);
         when 16#E0#                             => return Found (3, 16#A0#, 16#BF#);
         when 16#E1# .. 16#EC# | 16#EE# .. 16#EF# => return Found (3, 16#80#, 16#BF#);
         when 16#ED#                             => return Found (3, 16#80#, 16#9F#);
         when 16#F0#                             => return Found (4, 16#90#, 16#BF#);
         when 16#F1# .. 16#F3#                   => return Found (4, 16#80#, 16#BF#);
         when 16#F4#                             => return Found (4, 16#80#, 16#8F#);
         when others                             => return 0;
      end case;
   end Length_At;

   function Is_Valid (Text : String) return Boolean is
      Offset : Natural := 0;
      Length : Sequence_Length;
   begin
      while Offset < Text'Length loop
         Length := Length_At (Text, Text'First + Offset);
         if Length = 0 then
            return False;
         end if;
         Offset := Offset + Length;
      end loop;
      return True;
   end Is_Valid;

   function Value_At (Text : String; Index : Positive) return Code_Point is

      function Bits (Offset : Natural; Size : Positive) return Code_Point is
        (Code_Point (Byte_At (Text, Index + Offset) mod Size));
   begin
      case Length_At (Text, Index) is
         when 0 | 1 => return Bits (0, 128);
         when 2     => return Bits (0, 32) * 64 + Bits (1, 64);
         when 3     => return (Bits (0, 16) * 64 + Bits (1, 64)) * 64 + Bits (2, 64);
         when 4     =>
            return ((Bits (0, 8) * 64 + Bits (1, 64)) * 64 + Bits (2, 64)) * 64 + Bits (3, 64);
      end case;
   end Value_At;

   function Encoded (Value : Code_Point) return String is

      function Lead (Mark : Byte; Size : Code_Point) return Character is
        (Character'Val (Mark + Byte (Value / Size)));

      function Tail (Size : Code_Point) return Character is
        (Character'Val (16#80# + Byte (Value / Size mod 64)));
   begin
      case Value is
         when 0 .. 16#7F# =>
            return [Lead (0, 1)];
         when 16#80# .. 16#7FF# =>
            return [Lead (16#C0#, 64), Tail (1)];
         when 16#800# .. 16#FFFF# =>
            return [Lead (16#E0#, 4_096), Tail (64), Tail (1)];
         when 16#1_0000# .. 16#10_FFFF# =>
            return [Lead (16#F0#, 262_144), Tail (4_096), Tail (64), Tail (1)];
      end case;
   end Encoded;

end Appserver.UTF_8;
