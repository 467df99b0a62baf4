--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Parses the header field Range, with which a client requests a range of a file (RFC 9110, section
--  14).

pragma Ada_2022;

private package Appserver.HTTP.Byte_Ranges is

   type Selection is (Whole, Part, Unsatisfiable);

   procedure Read
     (Field       : String;
      Size        : Byte_Count;
      Selected    : out Selection;
      First, Last : out Byte_Count)
     with Post => (if Selected = Part then First <= Last and then Last < Size);
   --  Sets First and Last to the first and last byte, counted from 0, of the range that Field
   --  selects from a file of Size bytes. Selected is Whole if the field is malformed, has a unit
   --  other than bytes, or has more than one satisfiable range.

end Appserver.HTTP.Byte_Ranges;
