--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

pragma Ada_2022;

with Ada.Strings.Fixed;

package body Appserver.SQL.MariaDB_Targets is

   use Ada.Strings.Fixed;

   --  The message does not contain the URI, since the URI may contain a password

   procedure Refuse with No_Return is
   begin
      Raise_Error
        ("08001", 0,
         "the target must have the form mariadb://USER:PASSWORD@HOST:PORT/DATABASE?socket=PATH");
   end Refuse;

   function Decoded (Text : String) return Unbounded_String is
      Result : Unbounded_String;
      Next   : Positive := Text'First;
   begin
      while Next <= Text'Last loop
         if Text (Next) /= '%' then
            Append (Result, Text (Next));
            Next := Next + 1;
         elsif Text'Last - Next >= 2
           and then (for all C of Text (Next + 1 .. Next + 2) =>
                       C in '0' .. '9' | 'A' .. 'F' | 'a' .. 'f')
         then
            Append
              (Result, Character'Val (Natural'Value ("16#" & Text (Next + 1 .. Next + 2) & "#")));
            Next := Next + 3;
         else
            Refuse;
         end if;
      end loop;
      return Result;
   end Decoded;

   function Port_Of (Text : String) return Natural is
   begin
      if Text'Length not in 1 .. 5 or else (for some C of Text => C not in '0' .. '9') then
         Refuse;
      end if;
      return Natural'Value (Text);
   end Port_Of;

   --  Return the text before and after Mark; Before returns the whole text if Mark is missing

   function Before (Text : String; Mark : String) return String is
     (if Index (Text, Mark) = 0 then Text else Text (Text'First .. Index (Text, Mark) - 1));

   function Behind (Text : String; Mark : String) return String is
     (if Index (Text, Mark) = 0 then ""
      else Text (Index (Text, Mark) + Mark'Length .. Text'Last));

   Scheme : constant String := "mariadb://";
   Socket : constant String := "socket=";

   function Parsed (URI : String) return Target is
      Rest    : constant String :=
        (if Head (URI, Scheme'Length) = Scheme
         then URI (URI'First + Scheme'Length .. URI'Last) else "");
      Query   : constant String := Behind (Rest, "?");
      Path    : constant String := Before (Rest, "?");
      Site    : constant String := Before (Path, "/");
      Account : constant String := (if Index (Site, "@") = 0 then "" else Before (Site, "@"));
      Place   : constant String := (if Index (Site, "@") = 0 then Site else Behind (Site, "@"));
   begin
      if Place = "" or else (Query /= "" and then Head (Query, Socket'Length) /= Socket) then
         Refuse;
      end if;
      return
        (Host     => Decoded (Before (Place, ":")),
         Port     => (if Index (Place, ":") = 0 then 0 else Port_Of (Behind (Place, ":"))),
         User     => Decoded (Before (Account, ":")),
         Password => Decoded (Behind (Account, ":")),
         Database => Decoded (Behind (Path, "/")),
         Socket   => Decoded (Behind (Query, Socket)),
         others   => <>);
   end Parsed;

end Appserver.SQL.MariaDB_Targets;
