--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Evaluates the header fields Accept and Accept-Encoding: the weight that a client assigns to a
--  media type or a content coding (RFC 9110, sections 12.5.1 and 12.5.3).

pragma Ada_2022;

package Appserver.Media_Ranges with Pure is

   subtype Weight is Natural range 0 .. 1_000;
   --  A weight in thousandths (RFC 9110, 12.4.2); 0 means that the item is not acceptable

   function Weight_Of (Accepted, Main, Sub : String) return Weight;
   --  Returns the weight, in thousandths, of the most specific range that matches the media type
   --  Main/Sub, which must be in lower case. Returns 1,000 if the field is empty. A range that is
   --  malformed, or has parameters other than q and charset=utf-8, does not match.

   Unlisted : constant := -1;

   subtype Listed_Weight is Integer range Unlisted .. Weight'Last;

   function Coding_Weight (Accepted, Coding : String) return Listed_Weight;
   --  Returns the weight of a coding, which must be in lower case, or the weight of "*" if the
   --  coding is not listed. Malformed elements are ignored. If a coding is listed more than once,
   --  the first element counts.

   function Own_Weight (Accepted, Coding : String) return Listed_Weight;
   --  Returns the weight of a coding like Coding_Weight, but returns Unlisted if only "*" matches
   --  the coding

end Appserver.Media_Ranges;
