--  SPDX-License-Identifier: Apache-2.0
--
--  Resources that a program may leak when it starts others

package Left_Behind is

   function Descriptors return Natural;
   --  Open ones of this process

   function Children return Natural;
   --  Processes, zombies included

end Left_Behind;
