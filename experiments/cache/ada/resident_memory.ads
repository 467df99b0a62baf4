--  SPDX-License-Identifier: Apache-2.0
--
--  How much memory of this process was resident at the most: proc(5).

package Resident_Memory is

   type Byte_Count is range 0 .. 2 ** 53;

   procedure Reset_Peak;
   --  The peak begins with what is resident now

   function Peak return Byte_Count;

end Resident_Memory;
