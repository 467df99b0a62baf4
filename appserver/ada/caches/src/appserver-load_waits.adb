--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

pragma Ada_2022;

package body Appserver.Load_Waits is

   use Ada.Task_Identification;

   protected Waits is
      procedure Add (Self : not null Wait_Access; Is_Cycle : out Boolean);
      procedure Remove (Self : not null Wait_Access);
   private
      First : Wait_Access := null;
   end Waits;

   protected body Waits is

      --  A wait is over when its load has ended, even if the waiting task has not resumed yet

      function Is_Blocked_By (Loader, Waiter : Task_Id) return Boolean is
         Current : Task_Id := Loader;
         Wait    : Wait_Access;
      begin
         while Current /= Waiter loop
            Wait := First;
            while Wait /= null
              and then (Wait.Waiter /= Current or else Boolean (Wait.Has_Ended.all))
            loop
               Wait := Wait.Next;
            end loop;
            if Wait = null then
               return False;
            end if;
            Current := Wait.Loader;
         end loop;
         return True;
      end Is_Blocked_By;

      procedure Add (Self : not null Wait_Access; Is_Cycle : out Boolean) is
      begin
         Is_Cycle :=
           not Boolean (Self.Has_Ended.all) and then Is_Blocked_By (Self.Loader, Self.Waiter);
         if not Is_Cycle then
            Self.Next := First;
            First := Self;
            Self.Is_Listed := True;
         end if;
      end Add;

      procedure Remove (Self : not null Wait_Access) is
         Before : Wait_Access := First;
      begin
         if First = Self then
            First := Self.Next;
         else
            while Before.Next /= Self loop
               Before := Before.Next;
            end loop;
            Before.Next := Self.Next;
         end if;
      end Remove;

   end Waits;

   procedure Start (Self : in out Wait; Loader : Task_Id; Is_Cycle : out Boolean) is
   begin
      Self.Waiter := Current_Task;
      Self.Loader := Loader;
      Waits.Add (Self'Unchecked_Access, Is_Cycle);
   end Start;

   overriding procedure Finalize (Self : in out Wait) is
   begin
      if Self.Is_Listed then
         Self.Is_Listed := False;
         Waits.Remove (Self'Unchecked_Access);
      end if;
   end Finalize;

end Appserver.Load_Waits;
