--  SPDX-License-Identifier: Apache-2.0

with Ada.Strings.Unbounded;
with Dialect;

package body Target_Sessions is

   use Ada.Strings.Unbounded;

   Target : Unbounded_String;

   procedure Set_Target (URI : String) is
   begin
      Target := To_Unbounded_String (URI);
   end Set_Target;

   procedure Connect (DB : in out Database.Connection) is
   begin
      Database.Connect (DB, To_String (Target));
      Dialect.Set_Up (DB);
   end Connect;

   procedure Prepare
     (Self : in out Database.Statement; On : in out Database.Connection'Class; Text : String) is
   begin
      Self.Prepare (On, Text);
   end Prepare;

   ---------------
   -- Key table --
   ---------------

   --  The statements may take effect twice

   By : constant Appserver.Retry.Policy := (Repeatable => True, others => <>);

   procedure Execute (Text : String) is

      procedure Connect_And_Execute is
         DB : Database.Connection;
      begin
         Connect (DB);
         DB.Execute (Text);
      end Connect_And_Execute;
   begin
      Appserver.Retry.Run (By, Connect_And_Execute'Access);
   end Execute;

   procedure Make_Key_Table is
   begin
      Execute
        ("CREATE TABLE IF NOT EXISTS " & Key_Table & " (id " & Dialect.Key_Type
         & " PRIMARY KEY, result text, created timestamp DEFAULT CURRENT_TIMESTAMP)");
   end Make_Key_Table;

   procedure Drop_Key_Table is
   begin
      Execute ("DROP TABLE IF EXISTS " & Key_Table);
   end Drop_Key_Table;

end Target_Sessions;
