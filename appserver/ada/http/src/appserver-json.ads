--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  JSON, as RFC 8259 has it: a reader that pulls values out of a text, and a writer. Neither uses
--  the heap, nor raises an exception for what is in a text.

pragma Ada_2022;

package Appserver.JSON with Pure is

   Deepest : constant := 64;
   --  Objects and arrays that can be open at a time

private

   type Container_Kinds is array (1 .. Deepest) of Boolean with Pack;
   --  Of what is open, from the outside in: whether it is an object

end Appserver.JSON;
