--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

with Ada.Strings.Fixed;
with Ada.Strings.Unbounded;

package body Received_Notices is

   use Ada.Strings.Unbounded;

   Received : Natural := 0;
   Text     : Unbounded_String;

   procedure Receive (State : SQL.SQL_State; Message : SQL.UTF_8_String) is
   begin
      Received := Received + 1;
      Text     := To_Unbounded_String (State & " " & Message);
      if Ada.Strings.Fixed.Index (Message, "exception") > 0 then
         raise Program_Error with Message;
      end if;
   end Receive;

   procedure Clear is
   begin
      Received := 0;
   end Clear;

   function Count return Natural is (Received);

   function Latest return String is (To_String (Text));

end Received_Notices;
