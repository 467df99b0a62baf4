--  SPDX-License-Identifier: Apache-2.0
--
--  The peak resident memory of this process; see proc(5).

package Resident_Memory is

   type Byte_Count is range 0 .. 2 ** 53;

   procedure Reset_Peak;
   --  Resets the peak to the current resident memory

   function Peak return Byte_Count;

end Resident_Memory;
