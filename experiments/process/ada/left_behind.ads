--  SPDX-License-Identifier: Apache-2.0
--
--  What a program that starts others may leave behind

package Left_Behind is

   function Descriptors return Natural;
   --  Open ones of this process

   function Children return Natural;
   --  Processes, zombies included

end Left_Behind;
