--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

pragma Ada_2022;

package body Appserver.HTTP.Byte_Ranges is

   --  Numbers that are too large for any file are replaced by the largest number

   type Numeral is record
      Is_Present : Boolean := False;
      Value      : Byte_Count := 0;
   end record;

   Largest : constant := Byte_Count'Last / 16;

   procedure Read_Numeral (Text : String; Next : in out Positive; Read : out Numeral) is
   begin
      Read := (others => <>);
      while Next <= Text'Last and then Text (Next) in '0' .. '9' loop
         Read.Is_Present := True;
         Read.Value := Byte_Count'Min
           (Largest, Read.Value * 10 + Character'Pos (Text (Next)) - Character'Pos ('0'));
         Next := Next + 1;
      end loop;
   end Read_Numeral;

   procedure Skip_Space (Text : String; Next : in out Positive) is
   begin
      while Next <= Text'Last and then Text (Next) in ' ' | ASCII.HT loop
         Next := Next + 1;
      end loop;
   end Skip_Space;

   --  Reads one range: first-last, first- or -suffix

   procedure Read_One
     (Text        : String;
      Next        : in out Positive;
      Size        : Byte_Count;
      Selected    : out Selection;
      First, Last : out Byte_Count;
      Valid       : out Boolean)
   is
      From, To : Numeral;
   begin
      Selected := Unsatisfiable;
      First    := 0;
      Last     := 0;
      Read_Numeral (Text, Next, From);
      Valid := Next <= Text'Last and then Text (Next) = '-';
      if not Valid then
         return;
      end if;
      Next := Next + 1;
      Read_Numeral (Text, Next, To);
      Valid := (From.Is_Present or else To.Is_Present)
        and then (not (From.Is_Present and then To.Is_Present) or else From.Value <= To.Value);
      if not Valid or else Size = 0 then
         return;
      elsif not From.Is_Present then
         First    := Byte_Count'Max (Size - Byte_Count'Min (To.Value, Size), 0);
         Last     := Size - 1;
         Selected := (if To.Value > 0 then Part else Unsatisfiable);
      elsif From.Value < Size then
         First    := From.Value;
         Last     := (if To.Is_Present then Byte_Count'Min (To.Value, Size - 1) else Size - 1);
         Selected := Part;
      end if;
   end Read_One;

   Unit : constant String := "bytes=";

   function Lower (C : Character) return Character is
     (if C in 'A' .. 'Z' then Character'Val (Character'Pos (C) + 32) else C);

   function Is_About_Bytes (Field : String) return Boolean is
     (Field'Length > Unit'Length
      and then (for all K in Unit'Range => Lower (Field (Field'First + K - 1)) = Unit (K)));

   procedure Read
     (Field       : String;
      Size        : Byte_Count;
      Selected    : out Selection;
      First, Last : out Byte_Count)
   is
      Next      : Positive;
      Current   : Selection;
      From, To  : Byte_Count;
      Valid     : Boolean;
      Satisfied : Natural := 0;
      Any       : Boolean := False;
   begin
      Selected := Whole;
      First    := 0;
      Last     := 0;
      if not Is_About_Bytes (Field) then
         return;
      end if;
      Next := Field'First + Unit'Length;
      loop
         Skip_Space (Field, Next);
         if Next <= Field'Last and then Field (Next) /= ',' then
            Read_One (Field, Next, Size, Current, From, To, Valid);
            if not Valid then
               return;
            end if;
            Any := True;
            if Current = Part then
               Satisfied := Satisfied + 1;
               First := From;
               Last  := To;
            end if;
            Skip_Space (Field, Next);
         end if;
         exit when Next > Field'Last;
         if Field (Next) /= ',' then
            return;
         end if;
         Next := Next + 1;
      end loop;
      Selected :=
        (if not Any or else Satisfied > 1 then Whole
         elsif Satisfied = 1 then Part
         else Unsatisfiable);
   end Read;

end Appserver.HTTP.Byte_Ranges;
