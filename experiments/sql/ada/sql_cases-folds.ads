--  SPDX-License-Identifier: Apache-2.0
--
--  Functions that reduce values to numbers, for the check value of a batch.

with Ada.Calendar;

package SQL_Cases.Folds is

   function Milliseconds (Moment : Ada.Calendar.Time) return Interfaces.Integer_64;
   --  Returns the number of milliseconds from the beginning of 1970 to Moment

   function Code_Points (Text : SQL.UTF_8_String) return Interfaces.Unsigned_64;
   --  Returns the sum of the code points of a text

   function Bits (Number : Long_Float) return Interfaces.Unsigned_64;
   --  Returns the 64 bits of a floating-point number as an integer

   function Bytes (Value : SQL.Blob) return Interfaces.Unsigned_64;
   --  Returns the sum of the bytes of a blob

end SQL_Cases.Folds;
