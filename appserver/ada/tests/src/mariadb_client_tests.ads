--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Of Appserver.SQL.MariaDB: what needs no server.

with AUnit.Test_Suites;

package MariaDB_Client_Tests is

   function Suite return AUnit.Test_Suites.Access_Test_Suite;

end MariaDB_Client_Tests;
