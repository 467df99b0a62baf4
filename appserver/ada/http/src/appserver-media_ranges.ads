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
   --  The weight, in thousandths, of the range that matches Main/Sub most closely; both in lower
   --  case. 1,000 if the field is empty. A range that is malformed, or has parameters other than q
   --  and charset=utf-8, matches nothing.

   Unlisted : constant := -1;

   subtype Listed_Weight is Integer range Unlisted .. Weight'Last;

   function Coding_Weight (Accepted, Coding : String) return Listed_Weight;
   --  The weight of a coding, in lower case, or that of "*". Malformed elements are ignored; of
   --  several elements for a coding the first counts.

   function Own_Weight (Accepted, Coding : String) return Listed_Weight;
   --  The same, but Unlisted if only "*" matches it

end Appserver.Media_Ranges;
