--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

with Ada.Strings.Fixed;

package body Recorded_Connections is

   use Ada.Strings.Fixed;

   procedure Record_Command (Self : in out Connection; Text : String) is
   begin
      if Self.Recorded /= "" then
         Append (Self.Recorded, " ");
      end if;
      Append (Self.Recorded, Head (Text, Index (Text, " ") - 1));
   end Record_Command;

   procedure Forget (Self : in out Connection) is
   begin
      Self.Recorded := Null_Unbounded_String;
   end Forget;

   overriding function Prepare
     (Self : in out Connection; Text : SQL.UTF_8_String) return SQL.Statement'Class is
   begin
      Record_Command (Self, Text);
      return Database_Connection (Self).Prepare (Text);
   end Prepare;

   overriding function Prepare_Client_Side
     (Self : in out Connection; Text : SQL.UTF_8_String) return SQL.Statement'Class is
   begin
      Record_Command (Self, Text);
      return Database_Connection (Self).Prepare_Client_Side (Text);
   end Prepare_Client_Side;

   overriding procedure Execute (Self : in out Connection; Text : SQL.UTF_8_String) is
   begin
      Record_Command (Self, Text);
      Database_Connection (Self).Execute (Text);
   end Execute;

end Recorded_Connections;
