--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

pragma Ada_2022;

package body Appserver.Resilience.Bulkheads is

   protected body Permits is

      entry Enter (Is_Held : not null access Boolean) when Held < Max_Calls is
      begin
         Held        := Held + 1;
         Is_Held.all := True;
      end Enter;

      procedure Leave is
      begin
         Held := Held - 1;
      end Leave;

      function Running return Natural is (Held);
      function Waiting return Natural is (Enter'Count);

   end Permits;

   overriding procedure Finalize (Self : in out Permit) is
   begin
      if Self.Is_Held then
         Self.Is_Held := False;
         Self.Of_Bulkhead.Permits.Leave;
      end if;
   end Finalize;

   procedure Run
     (Self      : aliased in out Bulkhead;
      Operation : not null access procedure;
      Max_Wait  : Pause := 0.0)
   is
      Held : Permit (Self'Access);
   begin
      select
         Self.Permits.Enter (Held.Is_Held'Access);
      or
         delay Max_Wait;
         raise Bulkhead_Full_Error with
           "no permit was free within" & Max_Wait'Image & " s (Max_Calls:"
           & Self.Max_Calls'Image & ")";
      end select;
      Operation.all;
   end Run;

end Appserver.Resilience.Bulkheads;
