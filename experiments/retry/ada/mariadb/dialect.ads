--  SPDX-License-Identifier: Apache-2.0
--
--  MariaDB's dialect.

with Benchlab.Fields;
with Database;

package Dialect is

   procedure Set_Up (DB : in out Database.Connection);
   --  Sets the isolation level of the session's transactions to READ COMMITTED

   procedure Read_Back
     (DB        : in out Database.Connection;
      Arguments : Benchlab.Fields.Field_List;
      Settings  : in out Benchlab.Fields.Field_List)
     renames Database.Read_Back;

   Key_Type : constant String := "varchar(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin";

end Dialect;
