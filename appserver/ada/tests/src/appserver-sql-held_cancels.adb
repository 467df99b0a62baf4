--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

with Appserver.SQL.Time_Limits;

package body Appserver.SQL.Held_Cancels is

   procedure Hold (On : Connection'Class; Act : not null access procedure) is
      Mark : Time_Limits.Cancellation (On'Unchecked_Access);
   begin
      Time_Limits.End_Reading (Mark);
      Act.all;
   end Hold;

   function Has_Target (On : Connection'Class) return Boolean is
      Mark : Time_Limits.Cancellation (On'Unchecked_Access);
   begin
      return Time_Limits.Has_Target (Mark);
   end Has_Target;

end Appserver.SQL.Held_Cancels;
