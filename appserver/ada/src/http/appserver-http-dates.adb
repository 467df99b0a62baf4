--  SPDX-License-Identifier: Apache-2.0

package body Appserver.HTTP.Dates is

   Day_Names   : constant String := "ThuFriSatSunMonTueWed";
   --  From 1 January 1970 on
   Month_Names : constant String := "JanFebMarAprMayJunJulAugSepOctNovDec";

   function Name (Names : String; Index : Natural) return String is
     (Names (Names'First + 3 * Index .. Names'First + 3 * Index + 2));

   function Digits_Of (Number : Natural; Count : Positive) return String is
      Rest : Natural := Number;
   begin
      return Result : String (1 .. Count) do
         for C of reverse Result loop
            C := Character'Val (Character'Pos ('0') + Rest mod 10);
            Rest := Rest / 10;
         end loop;
      end return;
   end Digits_Of;

   --  A year is taken to begin with March, so that a leap day is its last one. There are 146,097
   --  days in 400 years, and 153 in 5 months that begin with March or August.

   function Image (Time : Unix_Seconds) return Date_Text is
      Days    : constant Natural := Natural (Time / 86_400);
      Seconds : constant Natural := Natural (Time mod 86_400);
      Since_0 : constant Natural := Days + 719_468;
      --  Since 1 March of the year 0
      Era     : constant Natural := Since_0 / 146_097;
      In_Era  : constant Natural := Since_0 mod 146_097;
      Year    : constant Natural :=
        (In_Era - In_Era / 1_460 + In_Era / 36_524 - In_Era / 146_096) / 365;
      In_Year : constant Natural := In_Era - (365 * Year + Year / 4 - Year / 100);
      Month   : constant Natural := (5 * In_Year + 2) / 153;
      --  0 is March
      Day     : constant Positive := In_Year - (153 * Month + 2) / 5 + 1;
   begin
      return Name (Day_Names, Days mod 7) & ", "
        & Digits_Of (Day, 2) & ' '
        & Name (Month_Names, (Month + 2) mod 12) & ' '
        & Digits_Of (400 * Era + Year + (if Month >= 10 then 1 else 0), 4) & ' '
        & Digits_Of (Seconds / 3_600, 2) & ':'
        & Digits_Of (Seconds / 60 mod 60, 2) & ':'
        & Digits_Of (Seconds mod 60, 2) & " GMT";
   end Image;

end Appserver.HTTP.Dates;
