--  SPDX-License-Identifier: Apache-2.0
--
--  Resources that a program may leak when it starts other programs

package Left_Behind is

   function Descriptors return Natural;
   --  Returns the number of open descriptors of this process

   function Children return Natural;
   --  Returns the number of child processes, including zombies

end Left_Behind;
