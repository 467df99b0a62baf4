--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

with Appserver.SQL.Time_Limits;

package body Appserver.SQL.Held_Cancels is

   procedure Hold (On : Connection'Class; Act : not null access procedure) is
      Mark : Time_Limits.Cancellation (On'Unchecked_Access) with Unreferenced;
   begin
      Act.all;
   end Hold;

end Appserver.SQL.Held_Cancels;
