--  SPDX-License-Identifier: Apache-2.0
--
--  Times as the fields Date and Last-Modified have them (RFC 9110, 5.6.7).

package Appserver.HTTP.Dates is

   subtype Unix_Seconds is Long_Long_Integer range 0 .. 253_402_300_799;
   --  Since 1970, leap seconds not counted; up to the year 9999

   subtype Date_Text is String (1 .. 29);

   function Image (Time : Unix_Seconds) return Date_Text;
   --  "Sun, 06 Nov 1994 08:49:37 GMT"

end Appserver.HTTP.Dates;
