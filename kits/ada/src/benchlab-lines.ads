--  SPDX-License-Identifier: Apache-2.0
--
--  Lines of bytes, as the protocol has them: no encoding, no page marks, a length that is bounded.

with Interfaces.C_Streams;

package Benchlab.Lines is

   Longest : constant := 65_536;
   --  Bytes of a line, without its LF

   type Outcome is (Complete, Too_Long, End_Of_Input);

   subtype Line_Length is Natural range 0 .. Longest;
   subtype Line_Buffer is String (1 .. Longest);

   procedure Read
     (From   : Interfaces.C_Streams.FILEs;
      Line   : out Line_Buffer;
      Length : out Line_Length;
      Result : out Outcome);
   --  The next line, without its LF, which the last one may lack. One that is too long is read to
   --  its end, and lost.

   procedure Write (To : Interfaces.C_Streams.FILEs; Line : String);
   --  Adds the LF and sends it off. Ada.IO_Exceptions.Device_Error if nobody takes it.

end Benchlab.Lines;
