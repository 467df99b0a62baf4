--  SPDX-License-Identifier: Apache-2.0
--
--  Functions that fold values to numbers, for the check of a batch.

with Ada.Calendar;

package SQL_Cases.Folds is

   function Milliseconds (Moment : Ada.Calendar.Time) return Interfaces.Integer_64;
   --  Returns the milliseconds since 1970

   function Code_Points (Text : SQL.UTF_8_String) return Interfaces.Unsigned_64;
   --  Returns the sum of the code points of a text

   function Bits (Number : Long_Float) return Interfaces.Unsigned_64;
   --  Returns the bits of a floating-point number

   function Bytes (Value : SQL.Blob) return Interfaces.Unsigned_64;
   --  Returns the sum of all bytes

end SQL_Cases.Folds;
