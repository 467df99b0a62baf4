--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  JSON (RFC 8259): a pull parser and a writer. They do not use the heap. Malformed text does not
--  raise exceptions.

pragma Ada_2022;

package Appserver.JSON with Pure is

   Deepest : constant := 64;
   --  The maximum number of open objects and arrays

private

   type Container_Kinds is array (1 .. Deepest) of Boolean with Pack;
   --  The kinds of the open values, starting with the outermost: True for an object, False for an
   --  array

end Appserver.JSON;
