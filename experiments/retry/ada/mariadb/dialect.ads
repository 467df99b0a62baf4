--  SPDX-License-Identifier: Apache-2.0
--
--  What MariaDB's SQL has of its own.

package Dialect is

   Read_Committed : constant String :=
     "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED";

   Key_Type : constant String := "varchar(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin";

end Dialect;
