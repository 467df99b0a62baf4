--  SPDX-License-Identifier: Apache-2.0
--
--  SQLite's dialect.

with Benchlab.Fields;
with Database;

package Dialect is

   procedure Set_Up (DB : in out Database.Connection);
   --  Sets the busy timeout to one second. SQLite has only the isolation level SERIALIZABLE.

   procedure Read_Back
     (DB        : in out Database.Connection;
      Arguments : Benchlab.Fields.Field_List;
      Settings  : in out Benchlab.Fields.Field_List);
   --  Adds the session's settings, including busy_timeout in milliseconds

   Key_Type : constant String := "varchar(255)";

end Dialect;
