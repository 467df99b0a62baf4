--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  JSON (RFC 8259): a pull reader and a writer. Neither uses the heap, and a malformed text raises
--  no exception.

pragma Ada_2022;

package Appserver.JSON with Pure is

   Deepest : constant := 64;
   --  The maximum number of open objects and arrays

private

   type Container_Kinds is array (1 .. Deepest) of Boolean with Pack;
   --  Of what is open, from the outside in: whether it is an object

end Appserver.JSON;
