--  SPDX-License-Identifier: Apache-2.0
--
--  The limit on the files and connections that this process may have open.

package Open_Files is

   procedure Raise_Limit;
   --  Raises the limit to the maximum that the system permits. The default limit in a shell is
   --  usually 1,024.

end Open_Files;
