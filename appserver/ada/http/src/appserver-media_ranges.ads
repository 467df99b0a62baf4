--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  The fields Accept and Accept-Encoding: how much a client wants a media type, or a coding (RFC
--  9110, sections 12.5.1 and 12.5.3).

pragma Ada_2022;

package Appserver.Media_Ranges with Pure is

   subtype Weight is Natural range 0 .. 1_000;
   --  In thousandths; 0: not acceptable

   function Weight_Of (Accepted, Main, Sub : String) return Weight;
   --  Of the type Main/Sub, both in lower case: that of the range that fits it most closely. 1,000
   --  if the field is empty. A range that is malformed, or has parameters other than q and
   --  charset=utf-8, fits nothing.

   Unlisted : constant := -1;

   subtype Listed_Weight is Integer range Unlisted .. Weight'Last;

   function Coding_Weight (Accepted, Coding : String) return Listed_Weight;
   --  Of a coding, in lower case: its own, or that of "*". An element that is malformed does not
   --  count; of several the first does.

   function Named_Weight (Accepted, Coding : String) return Listed_Weight;
   --  The same, but Unlisted if only "*" stands for it

end Appserver.Media_Ranges;
