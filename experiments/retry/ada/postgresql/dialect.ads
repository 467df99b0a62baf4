--  SPDX-License-Identifier: Apache-2.0
--
--  What PostgreSQL's SQL has of its own.

package Dialect is

   Read_Committed : constant String :=
     "SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL READ COMMITTED";

   Key_Type : constant String := "varchar(255)";

end Dialect;
