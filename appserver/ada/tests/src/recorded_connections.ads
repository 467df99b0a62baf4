--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Connections that record their commands, except for commands that begin or end transactions.

with Ada.Strings.Unbounded;
with Appserver.SQL;

generic
   type Database_Connection is limited new Appserver.SQL.Connection with private;
package Recorded_Connections is

   use Appserver;

   type Connection is limited new Database_Connection with private;

   function Commands (Self : Connection) return String;
   --  Returns the first word of each command, as in "INSERT UPDATE"

   procedure Forget (Self : in out Connection);

   overriding function Prepare
     (Self : in out Connection; Text : SQL.UTF_8_String) return SQL.Statement'Class;
   overriding function Prepare_Client_Side
     (Self : in out Connection; Text : SQL.UTF_8_String) return SQL.Statement'Class;
   overriding procedure Execute (Self : in out Connection; Text : SQL.UTF_8_String);

private

   use Ada.Strings.Unbounded;

   type Connection is limited new Database_Connection with record
      Recorded : Unbounded_String;
   end record;

   function Commands (Self : Connection) return String is (To_String (Self.Recorded));

end Recorded_Connections;
