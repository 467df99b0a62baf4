--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  The same tests for all databases.

with Database_Tests;
with Tested_Databases;

package SQL_Suites is

   package On_SQLite is new Database_Tests (Tested_Databases.SQLite_Database);
   package On_PostgreSQL is new Database_Tests (Tested_Databases.PostgreSQL_Database);
   package On_MariaDB is new Database_Tests (Tested_Databases.MariaDB_Database);

end SQL_Suites;
