--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  HTTP dates (RFC 9110, section 5.6.7), in UTC, with a resolution of one second.

pragma Ada_2022;

package Appserver.HTTP.Dates is

   type Unix_Time is range -2 ** 55 .. 2 ** 55;
   --  A time in seconds since the beginning of 1970, not counting leap seconds

   Last_Year : constant := 253_402_300_799;
   --  The last second of the year 9999, the latest time that the formats can represent

   subtype Common_Time is Unix_Time range 0 .. Last_Year;

   subtype Date_Text is String (1 .. 29);

   function Image (Time : Common_Time) return Date_Text;
   --  Formats a time, such as "Sun, 06 Nov 1994 08:49:37 GMT"

   No_Time : constant Unix_Time := Unix_Time'First;

   function Value (Text : String; Now : Common_Time) return Unix_Time;
   --  Parses a date in any of the three formats of RFC 9110, section 5.6.7. Returns No_Time if the
   --  text is not valid. A two-digit year is interpreted as a year at most 50 years after Now.

end Appserver.HTTP.Dates;
