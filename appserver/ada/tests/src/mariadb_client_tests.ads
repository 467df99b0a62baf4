--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Tests of Appserver.SQL.MariaDB that do not need a server.

with AUnit.Test_Suites;

package MariaDB_Client_Tests is

   function Suite return AUnit.Test_Suites.Access_Test_Suite;

end MariaDB_Client_Tests;
