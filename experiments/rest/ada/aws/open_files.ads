--  SPDX-License-Identifier: Apache-2.0
--
--  The limit on the files and connections that this process may have open.

package Open_Files is

   procedure Raise_Limit;
   --  Raises the limit to the maximum that the system permits. The usual limit of a shell is 1,024.

end Open_Files;
