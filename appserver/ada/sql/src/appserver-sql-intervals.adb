--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

pragma Ada_2022;

with Appserver.SQL.Text_Values;

package body Appserver.SQL.Intervals is

   use type Integer_32;

   type Wide_Integer is new Long_Long_Long_Integer;
   --  128 bits, so that sums do not overflow

   Second : constant := 1_000_000;
   Minute : constant := 60 * Second;
   Hour   : constant := 60 * Minute;

   -------------
   -- Writing --
   -------------

   function Digit_Text (Value : Integer_64; Width : Positive := 1) return String is
      Text : constant String := Text_Values.Image (Value);
   begin
      return [1 .. Integer'Max (0, Width - Text'Length) => '0'] & Text;
   end Digit_Text;

   --  Formats seconds, with decimals if there are any

   function Seconds_Text (Microseconds : Integer_64; Width : Positive := 1) return String is
     (Digit_Text (Microseconds / Second, Width)
      & (if Microseconds mod Second = 0 then ""
         else "." & Digit_Text (Microseconds mod Second, 6)));

   function Image (Value : Interval) return String is

      Left : constant Integer_64 := abs Value.Microseconds;
      Sign : constant String     := (if Value.Microseconds < 0 then "-" else "");

      function Part (Amount : Integer_64; Sign, Unit : String) return String is
        (if Amount = 0 then "" else Sign & Text_Values.Image (Amount) & Unit);
   begin
      if Value = Interval'(0, 0, 0) then
         return "PT0S";
      end if;
      return
        "P" & Part (Integer_64 (Value.Months), "", "M") & Part (Integer_64 (Value.Days), "", "D")
        & (if Left = 0 then ""
           else "T" & Part (Left / Hour, Sign, "H") & Part (Left mod Hour / Minute, Sign, "M")
             & (if Left mod Minute = 0 then "" else Sign & Seconds_Text (Left mod Minute) & "S"));
   end Image;

   procedure Bind
     (Self : in out Statement'Class; Parameter : Parameter_Number; Value : Interval) is
   begin
      Self.Bind (Parameter, UTF_8_String'(Image (Value)));
   end Bind;

   procedure Bind_Span
     (Self : in out Statement'Class; Parameter : Parameter_Number; Value : Interval)
   is
      Left : constant Integer_64 := abs Value.Microseconds;
   begin
      if Value.Months /= 0 or else Value.Days /= 0 or else Left > Max_Span then
         Raise_Error
           ("22015", 0,
            "parameter" & Parameter'Image & " does not fit into a time column: " & Image (Value));
      end if;
      Self.Bind
        (Parameter,
         UTF_8_String'
           ((if Value.Microseconds < 0 then "-" else "")
            & Digit_Text (Left / Hour, 2) & ":" & Digit_Text (Left mod Hour / Minute, 2) & ":"
            & Seconds_Text (Left mod Minute, 2)));
   end Bind_Span;

   -------------
   -- Reading --
   -------------

   type Sum is record
      Months, Days, Microseconds : Wide_Integer := 0;
   end record;

   --  A parsed number. Places is the number of decimals, if any; Value is then in millionths.

   type Number is record
      Negative : Boolean      := False;
      Value    : Wide_Integer := 0;
      Places   : Natural      := 0;
   end record;

   function As_Interval (Self : Statement'Class; Column : Column_Number) return Interval is

      Text : constant String := Self.As_Text (Column);
      Next : Positive := Text'First;

      procedure Refuse (State : SQL_State := "22007") with No_Return is
      begin
         Raise_Error
           (State, 0, "column" & Column'Image
            & (if State = "22015" then " does not fit into an interval: "
               else " is not an interval: ")
            & Text);
      end Refuse;

      function At_End return Boolean is (Next > Text'Last);

      function Found (Mark : String) return Boolean is
      begin
         if Text'Last - Next + 1 >= Mark'Length
           and then Text (Next .. Next + Mark'Length - 1) = Mark
         then
            Next := Next + Mark'Length;
            return True;
         end if;
         return False;
      end Found;

      Max_Digits : constant := 19;

      function Whole_Number (Count : out Natural) return Wide_Integer is
         Value : Wide_Integer := 0;
      begin
         Count := 0;
         while not At_End and then Text (Next) in '0' .. '9' loop
            Value := Value * 10 + Character'Pos (Text (Next)) - Character'Pos ('0');
            Next  := Next + 1;
            Count := Count + 1;
            if Count > Max_Digits then
               Refuse ("22015");
            end if;
         end loop;
         if Count = 0 then
            Refuse;
         end if;
         return Value;
      end Whole_Number;

      --  Reads a sign and digits. Only seconds may have decimals; the value is then in millionths.

      function Read_Number return Number is
         Count  : Natural;
         Result : Number;
      begin
         Result.Negative := Found ("-");
         if not Result.Negative and then Found ("+") then
            null;
         end if;
         Result.Value := Whole_Number (Count);
         if Found (".") then
            declare
               Decimals : constant Wide_Integer := Whole_Number (Result.Places);
            begin
               if Result.Places > 6 then
                  Refuse ("22015");
               end if;
               Result.Value := Result.Value * Second + Decimals * 10 ** (6 - Result.Places);
            end;
         end if;
         return Result;
      end Read_Number;

      function Signed (Item : Number) return Wide_Integer is
        (if Item.Negative then -Item.Value else Item.Value);

      function Whole_Value (Item : Number) return Wide_Integer is
      begin
         if Item.Places > 0 then
            Refuse ("22015");
         end if;
         return Signed (Item);
      end Whole_Value;

      function Seconds_Of (Item : Number) return Wide_Integer is
        (Signed (Item) * (if Item.Places > 0 then 1 else Second));

      --  Reads the text after "P"

      function Read_ISO return Sum is
         Result : Sum;
         Item   : Number;
         Timed  : Boolean := False;
      begin
         if At_End then
            Refuse;
         end if;
         while not At_End loop
            if not Timed and then Found ("T") then
               Timed := True;
            end if;
            Item := Read_Number;
            if Timed then
               if Found ("H") then
                  Result.Microseconds := Result.Microseconds + Whole_Value (Item) * Hour;
               elsif Found ("M") then
                  Result.Microseconds := Result.Microseconds + Whole_Value (Item) * Minute;
               elsif Found ("S") then
                  Result.Microseconds := Result.Microseconds + Seconds_Of (Item);
               else
                  Refuse;
               end if;
            elsif Found ("Y") then
               Result.Months := Result.Months + Whole_Value (Item) * 12;
            elsif Found ("M") then
               Result.Months := Result.Months + Whole_Value (Item);
            elsif Found ("W") then
               Result.Days := Result.Days + Whole_Value (Item) * 7;
            elsif Found ("D") then
               Result.Days := Result.Days + Whole_Value (Item);
            else
               Refuse;
            end if;
         end loop;
         return Result;
      end Read_ISO;

      --  Reads the text after the hours, such as "26:". The sign is the sign of the hours.

      function Read_Clock (Hours : Number) return Wide_Integer is
         Count   : Natural;
         Minutes : Wide_Integer;
         Last    : Number;
      begin
         Minutes := Whole_Number (Count);
         if Count /= 2 or else Minutes > 59 then
            Refuse;
         end if;
         if Found (":") then
            if At_End or else Text (Next) not in '0' .. '9' then
               Refuse;
            end if;
            Last := Read_Number;
            if Seconds_Of (Last) >= Minute then
               Refuse;
            end if;
         end if;
         return
           (if Hours.Negative then -1 else 1)
           * (abs Whole_Value (Hours) * Hour + Minutes * Minute + Seconds_Of (Last));
      end Read_Clock;

      --  Reads a text such as "1 year 2 mons -3 days +04:05:06.789". The time of day comes last.

      function Read_Words return Sum is
         Result : Sum;
         Item   : Number;
      begin
         loop
            Item := Read_Number;
            if Found (":") then
               Result.Microseconds := Read_Clock (Item);
               exit;
            elsif Found (" years") or else Found (" year") then
               Result.Months := Result.Months + Whole_Value (Item) * 12;
            elsif Found (" mons") or else Found (" mon") then
               Result.Months := Result.Months + Whole_Value (Item);
            elsif Found (" days") or else Found (" day") then
               Result.Days := Result.Days + Whole_Value (Item);
            else
               Refuse;
            end if;
            exit when At_End;
            if not Found (" ") then
               Refuse;
            end if;
         end loop;
         if not At_End then
            Refuse;
         end if;
         return Result;
      end Read_Words;

      Read : constant Sum := (if Found ("P") then Read_ISO else Read_Words);
   begin
      if Read.Months not in Wide_Integer (Integer_32'First) .. Wide_Integer (Integer_32'Last)
        or else Read.Days not in Wide_Integer (Integer_32'First) .. Wide_Integer (Integer_32'Last)
        or else Read.Microseconds not in
          Wide_Integer (Microsecond_Count'First) .. Wide_Integer (Microsecond_Count'Last)
      then
         Refuse ("22015");
      end if;
      return
        (Integer_32 (Read.Months), Integer_32 (Read.Days), Integer_64 (Read.Microseconds));
   end As_Interval;

end Appserver.SQL.Intervals;
