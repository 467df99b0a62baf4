--  SPDX-License-Identifier: Apache-2.0
--
--  Lines of bytes, as the protocol has them: no encoding, no page marks, a length that is bounded.

with Interfaces.C_Streams;

package Benchlab.Lines is

   Max_Length : constant := 65_536;
   --  Bytes of a line, without its LF

   type Outcome is (Complete, Too_Long, End_Of_Input);

   subtype Line_Length is Natural range 0 .. Max_Length;
   subtype Line_Buffer is String (1 .. Max_Length);

   Standard_Input : constant := 0;

   type Line_Reader (File : Natural) is limited private;
   --  File is a descriptor of the operating system

   procedure Read
     (From   : in out Line_Reader;
      Line   : out Line_Buffer;
      Length : out Line_Length;
      Result : out Outcome);
   --  The next line, without its LF, which the last one may lack. One that is too long is read to
   --  its end, and lost.

   function Is_Empty (From : Line_Reader) return Boolean;
   --  True if its buffer is empty, so that the next line must be read from
   --  its file

   procedure Write (To : Interfaces.C_Streams.FILEs; Line : String);
   --  Adds the LF and sends it off. Ada.IO_Exceptions.Device_Error if nobody takes it.

private

   type Line_Reader (File : Natural) is limited record
      First  : Positive := 1;
      Last   : Natural  := 0;
      Buffer : String (1 .. 4_096) := [others => ' '];
   end record;

   function Is_Empty (From : Line_Reader) return Boolean is (From.First > From.Last);

end Benchlab.Lines;
