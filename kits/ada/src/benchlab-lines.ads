--  SPDX-License-Identifier: Apache-2.0
--
--  Reads and writes the lines of the protocol as bytes. Lines have a maximum length, but no
--  encoding and no page terminators.

with Interfaces.C_Streams;

package Benchlab.Lines is

   Max_Length : constant := 65_536;
   --  The maximum length of a line in bytes, without its LF

   type Outcome is (Complete, Too_Long, End_Of_Input);

   subtype Line_Length is Natural range 0 .. Max_Length;
   subtype Line_Buffer is String (1 .. Max_Length);

   Standard_Input : constant := 0;

   type Line_Reader (File : Natural) is limited private;
   --  A buffered reader of lines. File is a file descriptor of the operating system.

   procedure Read
     (From   : in out Line_Reader;
      Line   : out Line_Buffer;
      Length : out Line_Length;
      Result : out Outcome);
   --  Reads the next line, without its LF. The last line of a file may lack the LF. A line that is
   --  too long is read to its end and discarded.

   function Is_Empty (From : Line_Reader) return Boolean;
   --  Returns True if the buffer is empty, so the next line must be read from the file

   procedure Write (To : Interfaces.C_Streams.FILEs; Line : String);
   --  Writes a line and an LF, and flushes the file. Raises Ada.IO_Exceptions.Device_Error if
   --  writing fails.

private

   type Line_Reader (File : Natural) is limited record
      First  : Positive := 1;
      Last   : Natural  := 0;
      Buffer : String (1 .. 4_096) := [others => ' '];
   end record;

   function Is_Empty (From : Line_Reader) return Boolean is (From.First > From.Last);

end Benchlab.Lines;
