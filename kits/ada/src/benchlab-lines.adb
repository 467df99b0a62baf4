--  SPDX-License-Identifier: Apache-2.0

with Ada.IO_Exceptions;
with Interfaces.C;
with System;

package body Benchlab.Lines is

   use Interfaces.C_Streams;
   use type size_t;

   --  read(2) of Linux

   function C_Read (File : int; Into : System.Address; Count : size_t) return Interfaces.C.long
     with Import, Convention => C, External_Name => "read";

   procedure Fill (Self : in out Line_Reader) is
   begin
      Self.First := 1;
      Self.Last  := Natural
        (Interfaces.C.long'Max
           (C_Read (int (Self.File), Self.Buffer'Address, Self.Buffer'Length), 0));
   end Fill;

   procedure Read
     (From   : in out Line_Reader;
      Line   : out Line_Buffer;
      Length : out Line_Length;
      Result : out Outcome)
   is
      Byte : Character;
   begin
      Length := 0;
      Result := Complete;
      loop
         if Is_Empty (From) then
            Fill (From);
         end if;
         if Is_Empty (From) then
            if Length = 0 and then Result = Complete then
               Result := End_Of_Input;
            end if;
            exit;
         end if;
         Byte := From.Buffer (From.First);
         From.First := From.First + 1;
         exit when Byte = ASCII.LF;
         if Length = Max_Length then
            Result := Too_Long;
         else
            Length := Length + 1;
            Line (Length) := Byte;
         end if;
      end loop;
   end Read;

   procedure Write (To : FILEs; Line : String) is
      Bytes : constant String := Line & ASCII.LF;
   begin
      if fwrite (Bytes'Address, 1, Bytes'Length, To) /= Bytes'Length
        or else fflush (To) /= 0
      then
         raise Ada.IO_Exceptions.Device_Error with "the reply could not be written";
      end if;
   end Write;

end Benchlab.Lines;
