--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Counts calls to mysql_init and mysql_close in MariaDB's client library. A test can make
--  mysql_init fail. The program must be linked with
--
--     -Wl,--wrap=mysql_init,--wrap=mysql_close

package MariaDB_Client_Calls is

   procedure Start (Fail_Init : Boolean);
   --  Starts counting the calls to mysql_init and mysql_close. If Fail_Init is True, mysql_init
   --  fails, as if there were no memory for connections.

   function Initialized return Natural;
   function Closed return Natural;
   --  Returns the number of calls to mysql_close for a handle that is not null

   function Null_Closed return Natural;
   --  Returns the number of calls to mysql_close for a null handle

end MariaDB_Client_Calls;
