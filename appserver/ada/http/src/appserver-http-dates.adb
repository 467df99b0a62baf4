--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

pragma Ada_2022;

package body Appserver.HTTP.Dates is

   Day_Length : constant := 86_400;

   Day_Names : constant array (0 .. 6) of String (1 .. 3) :=
     ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
   --  The names of the days, starting with the day of 1970-01-01

   subtype Month_Number is Positive range 1 .. 12;

   Month_Names : constant array (Month_Number) of String (1 .. 3) :=
     ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

   type Calendar_Day is record
      Year  : Natural range 0 .. 9_999;
      Month : Month_Number;
      Day   : Positive range 1 .. 31;
   end record;

   --  Calculations in the Gregorian calendar. Years start in March here, so that the leap day is
   --  the last day of the year, and the number of days before month m is (153 m + 2) / 5.

   Days_To_1970 : constant := 719_468;
   --  The number of days from 0000-03-01 to 1970-01-01

   function Days_Since_1970 (Date : Calendar_Day) return Integer is
      Year  : constant Integer := (if Date.Month > 2 then Date.Year else Date.Year - 1);
      Month : constant Natural := (if Date.Month > 2 then Date.Month - 3 else Date.Month + 9);
   begin
      return 365 * Year + Year / 4 - Year / 100 + Year / 400 + (153 * Month + 2) / 5
        + Date.Day - 1 - Days_To_1970;
   end Days_Since_1970;

   function Day_Of (Days : Natural) return Calendar_Day is
      Rest    : Natural := Days + Days_To_1970;
      Year    : Natural := 400 * (Rest / 146_097);
      Century : Natural;
      Part    : Natural;
   begin
      Rest    := Rest mod 146_097;
      Century := Natural'Min (Rest / 36_524, 3);
      Rest    := Rest - 36_524 * Century;
      Year    := Year + 100 * Century + 4 * (Rest / 1_461);
      Rest    := Rest mod 1_461;
      Part    := Natural'Min (Rest / 365, 3);
      Year    := Year + Part;
      Rest    := Rest - 365 * Part;
      Part    := (5 * Rest + 2) / 153;
      return
        (Year  => (if Part < 10 then Year else Year + 1),
         Month => (if Part < 10 then Part + 3 else Part - 9),
         Day   => Rest - (153 * Part + 2) / 5 + 1);
   end Day_Of;

   -------------
   -- Writing --
   -------------

   function Digit (Value : Natural) return Character is
     (Character'Val (Character'Pos ('0') + Value mod 10));

   function Two (Value : Natural) return String is ([Digit (Value / 10), Digit (Value)]);

   function Image (Time : Common_Time) return Date_Text is
      Days   : constant Natural := Natural (Time / Day_Length);
      Second : constant Natural := Natural (Time mod Day_Length);
      Date   : constant Calendar_Day := Day_Of (Days);
      Result : Date_Text := "Sun, 06 Nov 1994 08:49:37 GMT";
   begin
      Result (1 .. 3)   := Day_Names (Days mod 7);
      Result (6 .. 7)   := Two (Date.Day);
      Result (9 .. 11)  := Month_Names (Date.Month);
      Result (13 .. 14) := Two (Date.Year / 100);
      Result (15 .. 16) := Two (Date.Year);
      Result (18 .. 19) := Two (Second / 3_600);
      Result (21 .. 22) := Two (Second / 60 mod 60);
      Result (24 .. 25) := Two (Second mod 60);
      return Result;
   end Image;

   -------------
   -- Reading --
   -------------

   --  Parses digits. Returns -1 if there are other characters.

   function Number (Text : String) return Integer is
      Sum : Natural := 0;
   begin
      for C of Text loop
         if C not in '0' .. '9' then
            return -1;
         end if;
         Sum := Sum * 10 + Character'Pos (C) - Character'Pos ('0');
      end loop;
      return Sum;
   end Number;

   function Last_Day (Year, Month : Natural) return Natural is
     (case Month is
         when 2              =>
           (if Year mod 4 = 0 and then (Year mod 100 /= 0 or else Year mod 400 = 0) then 29
            else 28),
         when 4 | 6 | 9 | 11 => 30,
         when others         => 31);

   --  Combines a date with Clock, such as 08:49:37, which may be a leap second

   function Combined
     (Year : Integer; Month_Name : String; Day : Integer; Clock : String) return Unix_Time
   is
      Hour   : constant Integer := Number (Clock (Clock'First .. Clock'First + 1));
      Minute : constant Integer := Number (Clock (Clock'First + 3 .. Clock'First + 4));
      Second : constant Integer := Number (Clock (Clock'First + 6 .. Clock'First + 7));
   begin
      if Clock (Clock'First + 2) /= ':'
        or else Clock (Clock'First + 5) /= ':'
        or else Year < 0
        or else Hour not in 0 .. 23
        or else Minute not in 0 .. 59
        or else Second not in 0 .. 60
      then
         return No_Time;
      end if;
      for Month in Month_Number loop
         if Month_Names (Month) = Month_Name then
            return
              (if Day not in 1 .. Last_Day (Year, Month) then No_Time
               else Unix_Time (Days_Since_1970 ((Year, Month, Day))) * Day_Length
                 + Unix_Time (Hour * 3_600 + Minute * 60 + Second));
         end if;
      end loop;
      return No_Time;
   end Combined;

   --  Parses "Sun, 06 Nov 1994 08:49:37 GMT"

   function Fixed_Value (Text : Date_Text) return Unix_Time is
     (if Text (4 .. 5) = ", " and then Text (8) = ' ' and then Text (12) = ' '
        and then Text (17) = ' ' and then Text (26 .. 29) = " GMT"
      then Combined
        (Number (Text (13 .. 16)), Text (9 .. 11), Number (Text (6 .. 7)), Text (18 .. 25))
      else No_Time);

   --  Format "Sun Nov 6 08:49:37 1994"

   subtype C_Text is String (1 .. 24);

   function C_Value (Text : C_Text) return Unix_Time is
     (if Text (4) = ' ' and then Text (8) = ' ' and then Text (11) = ' ' and then Text (20) = ' '
      then Combined
        (Number (Text (21 .. 24)), Text (5 .. 7),
         Number ((if Text (9) = ' ' then Text (10 .. 10) else Text (9 .. 10))), Text (12 .. 19))
      else No_Time);

   --  Format "06-Nov-94 08:49:37 GMT", after the name of the day

   subtype Short_Text is String (1 .. 22);

   function Short_Value (Text : Short_Text; Now : Common_Time) return Unix_Time is

      This_Year : constant Natural := Day_Of (Natural (Now / Day_Length)).Year;
      Two_Digit : constant Integer := Number (Text (8 .. 9));
      Year      : Integer := This_Year - This_Year mod 100 + Two_Digit;
   begin
      if Two_Digit < 0
        or else Text (3) /= '-' or else Text (7) /= '-' or else Text (10) /= ' '
        or else Text (19 .. 22) /= " GMT"
      then
         return No_Time;
      end if;
      if Year > This_Year + 50 then
         Year := Year - 100;
      end if;
      return Combined (Year, Text (4 .. 6), Number (Text (1 .. 2)), Text (11 .. 18));
   end Short_Value;

   function Value (Text : String; Now : Common_Time) return Unix_Time is
      Before : constant Integer := Text'Length - Short_Text'Length;
      --  The length of the full name of a day and ", "
      Start  : Positive;
   begin
      if Text'Length = Date_Text'Length and then Text (Text'First + 3) = ',' then
         return Fixed_Value (Text);
      elsif Text'Length = C_Text'Length and then Text (Text'First + 3) = ' ' then
         return C_Value (Text);
      elsif Before in 8 .. 11 then
         Start := Text'First + Before;
         if Text (Start - 2 .. Start - 1) = ", " then
            return Short_Value (Text (Start .. Text'Last), Now);
         end if;
      end if;
      return No_Time;
   end Value;

end Appserver.HTTP.Dates;
