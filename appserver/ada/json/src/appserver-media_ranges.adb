--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

pragma Ada_2022;

package body Appserver.Media_Ranges is

   --  How specifically a range matches, from no match to type and subtype

   type Closeness is (None, Any, Main_Type, Exact);

   function Lower (C : Character) return Character is
     (if C in 'A' .. 'Z' then Character'Val (Character'Pos (C) + 32) else C);

   function Same (Text, Expected : String) return Boolean is
     (Text'Length = Expected'Length
      and then (for all K in 0 .. Text'Length - 1 =>
                   Lower (Text (Text'First + K)) = Expected (Expected'First + K)));

   function Trimmed (Text : String) return String is
      First : Positive := Text'First;
      Last  : Natural := Text'Last;
   begin
      while First <= Last and then Text (First) in ' ' | ASCII.HT loop
         First := First + 1;
      end loop;
      while First <= Last and then Text (Last) in ' ' | ASCII.HT loop
         Last := Last - 1;
      end loop;
      return Text (First .. Last);
   end Trimmed;

   --  Returns the end of the element that begins at First: the position before the next unquoted
   --  Mark, or the end of the text

   function Part_Last (Text : String; First : Positive; Mark : Character) return Natural is
      Quoted  : Boolean := False;
      Escaped : Boolean := False;
   begin
      for K in First .. Text'Last loop
         if Escaped then
            Escaped := False;
         elsif Quoted then
            Escaped := Text (K) = '\';
            Quoted  := Text (K) /= '"';
         elsif Text (K) = '"' then
            Quoted := True;
         elsif Text (K) = Mark then
            return K - 1;
         end if;
      end loop;
      return Text'Last;
   end Part_Last;

   --  Parses a qvalue: 0 or 1 with up to three decimals

   procedure Read_Weight (Text : String; Value : out Weight; Valid : out Boolean) is

      Factors : constant array (2 .. 4) of Weight := [100, 10, 1];
      --  The factors of the characters after the decimal point

      Sum : Natural;
   begin
      Value := 0;
      Valid := Text'Length in 1 .. 5
        and then Text (Text'First) in '0' | '1'
        and then (Text'Length = 1 or else Text (Text'First + 1) = '.')
        and then (for all C of Text (Text'First + 2 .. Text'Last) => C in '0' .. '9');
      if Valid then
         Sum := (if Text (Text'First) = '1' then Weight'Last else 0);
         for K in 2 .. Text'Length - 1 loop
            Sum := Sum
              + Factors (K) * (Character'Pos (Text (Text'First + K)) - Character'Pos ('0'));
         end loop;
         Valid := Sum <= Weight'Last;
         Value := (if Valid then Sum else 0);
      end if;
   end Read_Weight;

   function Closeness_Of (Media_Range, Main, Sub : String) return Closeness is
     (if Media_Range = "*/*" then Any
      elsif Same (Media_Range, Main & "/*") then Main_Type
      elsif Same (Media_Range, Main & "/" & Sub) then Exact
      else None);

   --  Parses one element of the list: a range and its parameters

   procedure Read_Range
     (Text      : String;
      Main, Sub : String;
      Fit       : out Closeness;
      Value     : out Weight)
   is
      Last  : Natural := Part_Last (Text, Text'First, ';');
      First : Positive;
      Valid : Boolean;
   begin
      Fit   := Closeness_Of (Trimmed (Text (Text'First .. Last)), Main, Sub);
      Value := Weight'Last;
      while Fit /= None and then Last < Text'Last loop
         First := Last + 2;
         Last  := Part_Last (Text, First, ';');
         declare
            Parameter : constant String := Trimmed (Text (First .. Last));
         begin
            if Parameter'Length > 2
              and then Same (Parameter (Parameter'First .. Parameter'First + 1), "q=")
            then
               Read_Weight
                 (Parameter (Parameter'First + 2 .. Parameter'Last), Value, Valid);
            else
               Valid := Parameter = ""
                 or else Same (Parameter, "charset=utf-8")
                 or else Same (Parameter, "charset=""utf-8""");
            end if;
            if not Valid then
               Fit := None;
            end if;
         end;
      end loop;
   end Read_Range;

   function Weight_Of (Accepted, Main, Sub : String) return Weight is
      Best   : Closeness := None;
      Result : Weight := 0;
      First  : Positive := Accepted'First;
      Last   : Natural;
      Fit    : Closeness;
      Value  : Weight;
   begin
      if Trimmed (Accepted) = "" then
         return Weight'Last;
      end if;
      loop
         Last := Part_Last (Accepted, First, ',');
         Read_Range (Accepted (First .. Last), Main, Sub, Fit, Value);
         if Fit > Best or else (Fit = Best and then Fit /= None and then Value > Result) then
            Best   := Fit;
            Result := Value;
         end if;
         exit when Last = Accepted'Last;
         First := Last + 2;
      end loop;
      return Result;
   end Weight_Of;

   -------------
   -- Codings --
   -------------

   --  Parses "coding" or "coding;q=weight"

   procedure Read_Coding
     (Text, Coding : String; Fit : out Closeness; Value : out Weight)
   is
      Last  : constant Natural := Part_Last (Text, Text'First, ';');
      Name  : constant String  := Trimmed (Text (Text'First .. Last));
      Rest  : constant String  := Trimmed (Text (Last + 2 .. Text'Last));
      Valid : Boolean := Last = Text'Last;
   begin
      Value := Weight'Last;
      if not Valid
        and then Rest'Length > 2
        and then Same (Rest (Rest'First .. Rest'First + 1), "q=")
      then
         Read_Weight (Rest (Rest'First + 2 .. Rest'Last), Value, Valid);
      end if;
      Fit :=
        (if not Valid then None
         elsif Same (Name, Coding) then Exact
         elsif Name = "*" then Any
         else None);
   end Read_Coding;

   --  Returns the weight of the most specific match, if it is more specific than Min_Closeness

   function Weight_Above
     (Accepted, Coding : String; Min_Closeness : Closeness) return Listed_Weight
   is
      Best   : Closeness := Min_Closeness;
      Result : Listed_Weight := Unlisted;
      First  : Positive := Accepted'First;
      Last   : Natural;
      Fit    : Closeness;
      Value  : Weight;
   begin
      while First <= Accepted'Last loop
         Last := Part_Last (Accepted, First, ',');
         Read_Coding (Accepted (First .. Last), Coding, Fit, Value);
         if Fit > Best then
            Best   := Fit;
            Result := Value;
         end if;
         First := Last + 2;
      end loop;
      return Result;
   end Weight_Above;

   function Coding_Weight (Accepted, Coding : String) return Listed_Weight is
     (Weight_Above (Accepted, Coding, None));

   function Own_Weight (Accepted, Coding : String) return Listed_Weight is
     (Weight_Above (Accepted, Coding, Any));

end Appserver.Media_Ranges;
