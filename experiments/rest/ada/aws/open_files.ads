--  SPDX-License-Identifier: Apache-2.0
--
--  How many files and connections this process may have open.

package Open_Files is

   procedure Raise_Limit;
   --  To the most that the system lets it have; from a shell it usually has 1,024

end Open_Files;
