--  SPDX-License-Identifier: Apache-2.0
--
--  The common definitions of the kit: the numeric types of the subject protocol, and the exceptions
--  with which a case reports errors.

with Interfaces;

package Benchlab with Pure is

   type Operation_Count is range 1 .. 2 ** 53;
   --  The number of operations of a batch

   type Operation_Number is range 0 .. 2 ** 53 - 1;
   --  The number of an operation in its batch

   type Unit_Count is range 0 .. 2 ** 63 - 1;
   --  The number of units that the operations produced, such as rows or bytes

   subtype Check_Value is Interfaces.Unsigned_64;
   --  The sum, modulo 2 ** 64, of every value that the operations produced

   Usage_Error : exception;
   --  A command or an argument is missing, malformed or out of order. Reported with the error code
   --  "usage".

   Unsupported_Error : exception;
   --  The subject has no such case or parameter. Reported with the error code "unsupported".

   --  Any other exception means that the work itself has failed. Reported with the error code
   --  "failed".

end Benchlab;
