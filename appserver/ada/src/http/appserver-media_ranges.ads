--  SPDX-License-Identifier: Apache-2.0
--
--  The Accept field: how much a client wants a media type (RFC 9110, section 12.5.1).

package Appserver.Media_Ranges with Pure is

   subtype Weight is Natural range 0 .. 1_000;
   --  In thousandths; 0: not acceptable

   function Weight_Of (Accepted, Main, Sub : String) return Weight;
   --  Of the type Main/Sub, both in lower case: that of the range that fits it most closely. 1,000
   --  if the field is empty. A range that is malformed, or has parameters other than q and
   --  charset=utf-8, fits nothing.

end Appserver.Media_Ranges;
