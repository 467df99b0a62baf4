--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

pragma Ada_2022;

with Ada.Task_Identification;

package body Appserver.Reclaimers is

   Pause : constant Duration := 0.05;

   protected Requests is

      procedure Add (Self : not null Owner_Access; Is_To_Wake : out Boolean);
      --  Sets Is_To_Wake to True if the background task is resting

      procedure Remove (Self : not null Owner_Access; Is_In_Use : out Boolean);

      entry Await_Use;
      --  Waits until the background task uses no owner

      procedure Begin_Round;
      procedure Take (Next : out Owner_Access);
      --  Takes the next owner of this round; null at the end of the round

      procedure Give_Back (Is_Done : Boolean);

      procedure Rest (Is_Ending : Boolean; Is_Resting : out Boolean);
      --  Sets Is_Resting to False if there are requests. If Is_Ending is True, the requests are
      --  dropped, and the next request of each owner wakes the task again.
   private
      First   : Owner_Access := null;
      Round   : Owner_Access := null;
      In_Use  : Owner_Access := null;
      Rests   : Boolean := True;
   end Requests;

   protected body Requests is

      procedure Link (Self : not null Owner_Access) is
      begin
         Self.Is_Listed := True;
         Self.Next := First;
         First := Self;
      end Link;

      procedure Add (Self : not null Owner_Access; Is_To_Wake : out Boolean) is
      begin
         Is_To_Wake := Rests;
         Rests := False;
         if not Self.Is_Listed then
            Link (Self);
         end if;
      end Add;

      procedure Unlink (Self : not null Owner_Access; From : in out Owner_Access) is
         Before : Owner_Access := From;
      begin
         if From = Self then
            From := Self.Next;
         else
            while Before /= null and then Before.Next /= Self loop
               Before := Before.Next;
            end loop;
            if Before /= null then
               Before.Next := Self.Next;
            end if;
         end if;
      end Unlink;

      procedure Remove (Self : not null Owner_Access; Is_In_Use : out Boolean) is
      begin
         if Self.Is_Listed then
            Unlink (Self, From => First);
            Unlink (Self, From => Round);
            Self.Is_Listed := False;
         end if;
         Is_In_Use := In_Use = Self;
      end Remove;

      entry Await_Use when In_Use = null is
      begin
         null;
      end Await_Use;

      procedure Begin_Round is
      begin
         Round := First;
         First := null;
      end Begin_Round;

      procedure Take (Next : out Owner_Access) is
      begin
         Next := Round;
         if Next /= null then
            Round := Next.Next;
            Next.Is_Listed := False;
         end if;
         In_Use := Next;
      end Take;

      procedure Give_Back (Is_Done : Boolean) is
      begin
         if not Is_Done and then not In_Use.Is_Listed then
            Link (In_Use);
         end if;
         In_Use := null;
      end Give_Back;

      procedure Rest (Is_Ending : Boolean; Is_Resting : out Boolean) is
      begin
         while Is_Ending and then First /= null loop
            First.Is_Listed := False;
            First := First.Next;
         end loop;
         Rests := First = null;
         Is_Resting := Rests;
      end Rest;

   end Requests;

   task Reclaimer is
      entry Wake;
   end Reclaimer;

   procedure Visit_All is
      Current : Owner_Access;
      Is_Done : Boolean;
   begin
      Requests.Begin_Round;
      loop
         Requests.Take (Current);
         exit when Current = null;
         begin
            Current.Reclaim (Is_Done);
         exception
            when others => Is_Done := True;  --  a finalization raised an exception
         end;
         Requests.Give_Back (Is_Done);
      end loop;
   end Visit_All;

   --  Returns True once the main program has ended. The program then waits for the background task.
   --  But the task may never be done with any owner, if readers stay active or the kernel rejects
   --  membarrier.

   function Is_Ending return Boolean is
     (not Ada.Task_Identification.Is_Callable (Ada.Task_Identification.Environment_Task));

   task body Reclaimer is
      Is_Resting : Boolean;
   begin
      loop
         select
            accept Wake;
         or
            terminate;
         end select;
         loop
            delay Pause;
            Visit_All;
            Requests.Rest (Is_Ending, Is_Resting);
            exit when Is_Resting;
         end loop;
      end loop;
   end Reclaimer;

   procedure Add (Self : in out Owner'Class) is
      Is_To_Wake : Boolean;
   begin
      Requests.Add (Self'Unchecked_Access, Is_To_Wake);
      if Is_To_Wake then
         Reclaimer.Wake;
      end if;
   exception
      when Tasking_Error => null;  --  the program is exiting
   end Add;

   procedure Request (Self : in out Owner'Class) is
   begin
      if not Self.Is_Listed then
         Add (Self);
      end if;
   end Request;

   procedure Withdraw (Self : in out Owner'Class) is
      Is_In_Use : Boolean;
   begin
      loop
         Requests.Remove (Self'Unchecked_Access, Is_In_Use);
         exit when not Is_In_Use;
         Requests.Await_Use;
      end loop;
   end Withdraw;

end Appserver.Reclaimers;
