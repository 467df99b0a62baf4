--  SPDX-License-Identifier: Apache-2.0

with Ada.Strings.Fixed;
with Ada.Strings.Unbounded;

package body Benchlab.Operation_Sets is

   use Ada.Strings;
   use Ada.Strings.Unbounded;

   function Image (Number : Operation_Number) return String is
     (Fixed.Trim (Number'Image, Left));

   function Range_Image (First, Last : Operation_Number) return String is
     (if First = Last then Image (First) else Image (First) & "-" & Image (Last));

   function Image (Self : Operation_Set) return String is
      Result      : Unbounded_String;
      First, Last : Operation_Number;
   begin
      if Self.Is_Empty then
         return "none";
      end if;
      First := Self.First_Element;
      Last  := First;
      for Number of Self loop
         if Number > Last + 1 then
            Append (Result, Range_Image (First, Last) & ",");
            First := Number;
         end if;
         Last := Number;
      end loop;
      return To_String (Result) & Range_Image (First, Last);
   end Image;

end Benchlab.Operation_Sets;
