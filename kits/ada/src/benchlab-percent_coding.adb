--  SPDX-License-Identifier: Apache-2.0

with Ada.Strings.Unbounded;

package body Benchlab.Percent_Coding is

   use Ada.Strings.Unbounded;

   subtype Plain is Character with
     Static_Predicate => Plain in 'A' .. 'Z' | 'a' .. 'z' | '0' .. '9'
                                | '-' | '.' | '_' | '~' | '/' | ':' | ',' | '+';

   Digit : constant array (0 .. 15) of Character := "0123456789ABCDEF";

   function Encoded (Value : String) return String is
      Result : Unbounded_String;
   begin
      for C of Value loop
         if C in Plain then
            Append (Result, C);
         else
            Append
              (Result,
               ['%', Digit (Character'Pos (C) / 16), Digit (Character'Pos (C) mod 16)]);
         end if;
      end loop;
      return To_String (Result);
   end Encoded;

   function Digit_Value (C : Character) return Natural is
     (case C is
         when '0' .. '9' => Character'Pos (C) - Character'Pos ('0'),
         when 'A' .. 'F' => Character'Pos (C) - Character'Pos ('A') + 10,
         when 'a' .. 'f' => Character'Pos (C) - Character'Pos ('a') + 10,
         when others     => raise Usage_Error with "% is not followed by two hexadecimal digits");

   function Decoded (Word : String) return String is
      Result : String (1 .. Word'Length);
      Last   : Natural  := 0;
      Next   : Positive := Word'First;
   begin
      while Next <= Word'Last loop
         Last := Last + 1;
         if Word (Next) = '%' then
            if Word'Last - Next < 2 then
               raise Usage_Error with "% is not followed by two hexadecimal digits";
            end if;
            Result (Last) := Character'Val
              (Digit_Value (Word (Next + 1)) * 16 + Digit_Value (Word (Next + 2)));
            Next := Next + 3;
         elsif Word (Next) in Plain then
            Result (Last) := Word (Next);
            Next := Next + 1;
         else
            raise Usage_Error with "a byte is not percent-encoded";
         end if;
      end loop;
      return Result (1 .. Last);
   end Decoded;

end Benchlab.Percent_Coding;
