--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

pragma Ada_2022;

with Ada.Strings.Fixed;

package body Appserver.SQL.MariaDB_Texts is

   function Parameters_In (Text : String; Backslash_Escapes : Boolean) return Position_List is

      Next     : Positive := Text'First;
      Found    : Position_List (1 .. Ada.Strings.Fixed.Count (Text, "?"));
      Count    : Natural := 0;
      Carried  : Boolean := False;

      function Starts (Mark : String) return Boolean is
        (Text'Last - Next + 1 >= Mark'Length
         and then Text (Next .. Next + Mark'Length - 1) = Mark);

      --  To behind the next Mark; to the end, if there is none

      procedure Skip_Past (Mark : String) is
         Place : constant Natural := Ada.Strings.Fixed.Index (Text, Mark, From => Next);
      begin
         Next := (if Place = 0 then Text'Last + 1 else Place + Mark'Length);
      end Skip_Past;

      --  A doubled quote ends one string and begins another: no need to know it

      procedure Skip_Quoted (Quote : Character) is
         Escapes : constant Boolean := Backslash_Escapes and then Quote /= '`';
      begin
         Next := Next + 1;
         while Next <= Text'Last and then Text (Next) /= Quote loop
            Next := Next + (if Escapes and then Text (Next) = '\' then 2 else 1);
         end loop;
         Next := Next + 1;
      end Skip_Quoted;

      --  Two dashes begin a comment only before a blank

      function Is_Dash_Comment return Boolean is
        (Starts ("--")
         and then (Next + 2 > Text'Last or else Text (Next + 2) in ASCII.NUL .. ' '));

   begin
      while Next <= Text'Last loop
         if Text (Next) in ''' | '"' | '`' then
            Skip_Quoted (Text (Next));
         elsif Text (Next) = '#' or else Is_Dash_Comment then
            Skip_Past ([1 => ASCII.LF]);
         elsif Starts ("/*") then
            Carried := Carried or else Starts ("/*!") or else Starts ("/*M!");
            Skip_Past ("*/");
         else
            if Text (Next) = '?' then
               Count := Count + 1;
               Found (Count) := Next;
            end if;
            Next := Next + 1;
         end if;
      end loop;
      if Carried and then Count > 0 then
         Raise_Error ("0A000", 0, "parameters beside a comment that is carried out");
      end if;
      return Found (1 .. Count);
   end Parameters_In;

end Appserver.SQL.MariaDB_Texts;
