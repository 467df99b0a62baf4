--  SPDX-License-Identifier: Apache-2.0

with Ada.IO_Exceptions;

package body Benchlab.Lines is

   use Interfaces.C_Streams;
   use type size_t;

   procedure Read
     (From   : FILEs;
      Line   : out Line_Buffer;
      Length : out Line_Length;
      Result : out Outcome)
   is
      Byte : int;
   begin
      Length := 0;
      Result := Complete;
      loop
         Byte := fgetc (From);
         if Byte = EOF and then Length = 0 and then Result = Complete then
            Result := End_Of_Input;
         end if;
         exit when Byte = EOF or else Byte = Character'Pos (ASCII.LF);
         if Length = Longest then
            Result := Too_Long;
         else
            Length := Length + 1;
            Line (Length) := Character'Val (Byte);
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
