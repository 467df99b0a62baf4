--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  UTF-8 (RFC 3629). Overlong forms, surrogates, and code points above U+10FFFF are invalid.

pragma Ada_2022;

package Appserver.UTF_8 with Pure is

   pragma Assertion_Policy (Pre => Check, Pre'Class => Check);

   type Code_Point is range 0 .. 16#10_FFFF#;

   subtype Surrogate is Code_Point range 16#D800# .. 16#DFFF#;
   subtype High_Surrogate is Surrogate range 16#D800# .. 16#DBFF#;
   subtype Low_Surrogate is Surrogate range 16#DC00# .. 16#DFFF#;

   subtype Sequence_Length is Natural range 0 .. 4;

   function Length_At (Text : String; Index : Positive) return Sequence_Length
     with Pre => Index in Text'Range or else raise Misuse_Error with "the index is not in the text";
   --  @param Text the text
   --  @param Index the index of a byte
   --  @return the number of bytes of the code point that begins at Index; 0 if no valid code point
   --  begins there

   function Is_Valid (Text : String) return Boolean;
   --  @param Text the text
   --  @return True if the text is valid UTF-8

   function Value_At (Text : String; Index : Positive) return Code_Point
     with Pre => (Index in Text'Range and then Length_At (Text, Index) > 0)
                 or else raise Misuse_Error with "no code point begins at the index";
   --  @param Text the text
   --  @param Index the index of the first byte of a code point
   --  @return the code point

   function Encoded (Value : Code_Point) return String
     with Pre  => Value not in Surrogate
                  or else raise Misuse_Error with "a surrogate has no encoding",
          Post => Encoded'Result'Length in 1 .. 4;
   --  @param Value the code point
   --  @return the UTF-8 bytes

   Replacement : constant String := Character'Val (16#EF#) & Character'Val (16#BF#)
     & Character'Val (16#BD#);
   --  The UTF-8 bytes of U+FFFD, the replacement character

end Appserver.UTF_8;
