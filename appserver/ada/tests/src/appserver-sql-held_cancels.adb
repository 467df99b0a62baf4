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

   procedure Close (On : in out Connection'Class; Has_Target : out Boolean) is
      Old     : constant Gate_Access := On.Gate;
      Earlier : Time_Limits.Cancellation (On'Unchecked_Access);

      task Closer;

      task body Closer is
      begin
         On.Close;
      end Closer;
   begin
      --  Close waits for Earlier, and then for Later
      while On.Gate = Old loop
         delay 0.001;
      end loop;
      declare
         Later : Time_Limits.Cancellation (On'Unchecked_Access);
      begin
         Time_Limits.End_Reading (Later);
         Time_Limits.End_Reading (Earlier);
         while not On.Gate.Is_Under_Way loop
            delay 0.001;
         end loop;
         Has_Target := Time_Limits.Has_Target (Later);
      end;
   end Close;

   procedure Cancel_At_End (On : in out Connection'Class; Is_Refused, Is_Awaited : out Boolean) is
   begin
      On.Close;
      Time_Limits.Leave_Gate (On);
      begin
         Is_Refused := not Has_Target (On);
      exception
         when Misuse_Error => Is_Refused := True;
      end;
      Is_Awaited := On.Readers > 0;
   end Cancel_At_End;

end Appserver.SQL.Held_Cancels;
