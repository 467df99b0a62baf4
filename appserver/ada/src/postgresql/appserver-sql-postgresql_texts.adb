--  SPDX-License-Identifier: Apache-2.0

with Ada.Strings.Fixed;

package body Appserver.SQL.PostgreSQL_Texts is

   subtype Digit is Character range '0' .. '9';

   --  Bytes above 127 belong to letters in UTF-8

   function Is_Name_Part (C : Character) return Boolean is
     (C in 'a' .. 'z' | 'A' .. 'Z' | '_' | Digit or else C > ASCII.DEL);

   function Parameter_Count (Text : String) return Natural is

      Next  : Positive := Text'First;
      Count : Natural  := 0;

      function Current return Character is
        (if Next <= Text'Last then Text (Next) else ASCII.NUL);

      function Following return Character is
        (if Next < Text'Last then Text (Next + 1) else ASCII.NUL);

      --  To behind the next Mark; to the end, if there is none

      procedure Skip_Past (Mark : String) is
         Found : constant Natural :=
           (if Next > Text'Last then 0 else Ada.Strings.Fixed.Index (Text, Mark, From => Next));
      begin
         Next := (if Found = 0 then Text'Last + 1 else Found + Mark'Length);
      end Skip_Past;

      --  A doubled quote ends one string and begins another: no need to know it

      procedure Skip_Quoted (Quote : Character; Escapes : Boolean) is
      begin
         Next := Next + 1;
         while Next <= Text'Last and then Text (Next) /= Quote loop
            Next := Next + (if Escapes and then Text (Next) = '\' then 2 else 1);
         end loop;
         Next := Next + 1;
      end Skip_Quoted;

      --  Comments nest

      procedure Skip_Comment is
         Depth : Natural := 0;
      begin
         loop
            if Current = '/' and then Following = '*' then
               Depth := Depth + 1;
               Next  := Next + 2;
            elsif Current = '*' and then Following = '/' then
               Depth := Depth - 1;
               Next  := Next + 2;
            else
               Next := Next + 1;
            end if;
            exit when Depth = 0 or else Next > Text'Last;
         end loop;
      end Skip_Comment;

      procedure Skip_Name is
      begin
         while Is_Name_Part (Current) or else Current = '$' loop
            Next := Next + 1;
         end loop;
      end Skip_Name;

      procedure Take_Number is
         Number : Natural := 0;
      begin
         Next := Next + 1;
         while Current in Digit loop
            Number := Integer'Min
              (Number * 10 + Character'Pos (Current) - Character'Pos ('0'), Most_Parameters);
            Next := Next + 1;
         end loop;
         Count := Integer'Max (Count, Number);
      end Take_Number;

      --  $$ … $$ or $tag$ … $tag$

      procedure Skip_Dollar_Quoted is
         Start : constant Positive := Next;
      begin
         Next := Next + 1;
         while Is_Name_Part (Current) loop
            Next := Next + 1;
         end loop;
         if Current = '$' then
            Next := Next + 1;
            Skip_Past (Text (Start .. Next - 1));
         end if;
      end Skip_Dollar_Quoted;

   begin
      while Next <= Text'Last loop
         case Text (Next) is
            when ''' =>
               Skip_Quoted (''', Escapes => False);
            when '"' =>
               Skip_Quoted ('"', Escapes => False);
            when '$' =>
               if Following in Digit then
                  Take_Number;
               else
                  Skip_Dollar_Quoted;
               end if;
            when '-' =>
               if Following = '-' then
                  Skip_Past ([1 => ASCII.LF]);
               else
                  Next := Next + 1;
               end if;
            when '/' =>
               if Following = '*' then
                  Skip_Comment;
               else
                  Next := Next + 1;
               end if;
            when others =>
               if Current in 'e' | 'E' and then Following = ''' then
                  Next := Next + 1;
                  Skip_Quoted (''', Escapes => True);
               elsif Is_Name_Part (Current) then
                  Skip_Name;
               else
                  Next := Next + 1;
               end if;
         end case;
      end loop;
      return Count;
   end Parameter_Count;

end Appserver.SQL.PostgreSQL_Texts;
