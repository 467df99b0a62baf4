--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  The Range field: the bytes of a file that a client requests (RFC 9110, section 14).

pragma Ada_2022;

private package Appserver.HTTP.Byte_Ranges is

   type Selection is (Whole, Part, Unsatisfiable);

   procedure Read
     (Field       : String;
      Size        : Byte_Count;
      Selected    : out Selection;
      First, Last : out Byte_Count)
     with Post => (if Selected = Part then First <= Last and then Last < Size);
   --  The bytes, counted from 0, that the field Range selects of a file of Size bytes. Whole if the
   --  field is malformed, has another unit, or if more than one of its ranges can be satisfied.

end Appserver.HTTP.Byte_Ranges;
