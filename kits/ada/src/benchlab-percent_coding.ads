--  SPDX-License-Identifier: Apache-2.0
--
--  Values as words of a protocol line: every byte outside A-Z a-z 0-9 - . _ ~ / : , + is %XX.

package Benchlab.Percent_Coding with Preelaborate is

   function Encoded (Value : String) return String;
   --  Uses upper-case hexadecimal digits

   function Decoded (Word : String) return String;
   --  Takes digits of either case. Usage_Error if Word is malformed.

end Benchlab.Percent_Coding;
