--  SPDX-License-Identifier: Apache-2.0
--
--  Encodes values as words of a protocol line: every byte except A-Z a-z 0-9 - . _ ~ / : , + is
--  written as %XX.

package Benchlab.Percent_Coding with Preelaborate is

   function Encoded (Value : String) return String;
   --  Encodes a value, with upper-case hexadecimal digits

   function Decoded (Word : String) return String;
   --  Decodes a word, with digits in upper or lower case. Raises Usage_Error if Word is malformed.

end Benchlab.Percent_Coding;
