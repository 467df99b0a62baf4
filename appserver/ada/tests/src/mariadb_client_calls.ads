--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Calls of MariaDB's client library, counted, of which one fails when a test wants it to. The
--  program has to be linked with
--
--     -Wl,--wrap=mysql_init,--wrap=mysql_close

package MariaDB_Client_Calls is

   procedure Start (Fail_Init : Boolean);
   --  Counts from here on. Fail_Init: there is no memory for connections.

   function Initialised return Natural;
   function Closed return Natural;
   --  Handles that were not null

   function Null_Closed return Natural;
   --  Calls of mysql_close for a handle that was never initialised

end MariaDB_Client_Calls;
