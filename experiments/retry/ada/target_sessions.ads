--  SPDX-License-Identifier: Apache-2.0
--
--  Sessions on the target of the open case. The database's dialect sets up each session.

with Appserver.Retry.Transactions;
with Appserver.SQL.Statement_Caches;
with Database;

package Target_Sessions is

   procedure Set_Target (URI : String);
   --  Sets the target. Must be called only while no session is open.

   procedure Connect (DB : in out Database.Connection);

   procedure Prepare
     (Self : in out Database.Statement; On : in out Database.Connection'Class; Text : String);

   package Statement_Caches is new Appserver.SQL.Statement_Caches
     (Database.Connection, Database.Statement, Prepare, Max_Statements => 8);

   Key_Table : constant String := "retry_key";

   package Transactions is new Appserver.Retry.Transactions
     (Database.Connection, Connect, Key_Table);

   procedure Make_Key_Table;
   procedure Drop_Key_Table;
   --  Create and drop the table of keys. Each call uses its own connection.

end Target_Sessions;
