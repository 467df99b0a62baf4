--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

pragma Ada_2022;

package body Appserver.Caches.Wait_Free is

   use type Reader_Slots.Slot_Access;
   use type Reader_Slots.Stamp;

   Batch_Writes : constant := 64;

   Freed_By_Write : constant := 2;
   --  The number of nodes to free per write: one more than the number of nodes that most writes
   --  unlink. If a thread frees a few nodes at a time while it allocates others, the memory stays
   --  in the thread's own heap arena, which needs no lock.

   protected body Writer is

      --  Finds garbage that readers can no longer see

      procedure Reclaim is
      begin
         Writes := 0;
         loop
            if Tables.Is_Empty (Unseen) and then not Tables.Is_Empty (Unlinked) then
               Tables.Move (From => Unlinked, To => Unseen);
               Reader_Slots.Begin_Epoch (Owner.Epoch);
               Since := Owner.Epoch;
            end if;
            exit when Tables.Is_Empty (Unseen)
              or else Since > Reader_Slots.Oldest_Reader (Owner.Epoch);
            Tables.Move (From => Unseen, To => Unused);
         end loop;
      end Reclaim;

      procedure Apply (Capacity : Positive; Change : in out Caches.Change'Class) is
      begin
         Apply
           (Change, Owner.Table, Capacity, Removed => Unlinked,
            May_Replace => Unlinked.Arrays = null and then Unseen.Arrays = null);
         if Change.Kind in Remove_Expired | Clear then
            Reclaim;
            Tables.Move (From => Unused, To => Change.Removed);
         elsif Change.Step = Finish then
            Writes := Writes + 1;
            if Writes = Batch_Writes then
               Tables.Move (From => Unused, To => Change.Removed);
               Reclaim;
            end if;
            Tables.Move_Some (From => Unused, To => Change.Removed, Nodes => Freed_By_Write);
         end if;
         Owner.Leaves :=
           not (Tables.Is_Empty (Unlinked)
                and then Tables.Is_Empty (Unseen)
                and then Tables.Is_Empty (Unused));
      end Apply;

      procedure Reclaim (Free : in out Tables.Garbage; Is_Done : out Boolean) is
      begin
         Reclaim;
         Tables.Move (From => Unused, To => Free);
         Is_Done := Tables.Is_Empty (Unseen);
      end Reclaim;

      procedure Take_All (Free : in out Tables.Garbage) is
         Unreported : Tables.Report;
      begin
         Tables.Clear (Owner.Table, Now => 0, Removed => Free, Report => Unreported);
         Tables.Move (From => Unlinked, To => Free);
         Tables.Move (From => Unseen, To => Free);
         Tables.Move (From => Unused, To => Free);
      end Take_All;

   end Writer;

   overriding procedure Reclaim (Self : in out Owned_Table; Is_Done : out Boolean) is
      Change : Caches.Change (Remove_Expired);
   begin
      Self.Writer.Reclaim (Change.Removed, Is_Done);
   end Reclaim;

   overriding procedure Finalize (Self : in out Owned_Table) is
      Removed : Tables.Garbage;
   begin
      Self.Withdraw;
      Self.Writer.Take_All (Removed);
      Tables.Free (Removed);
      Tables.Free_Ghosts (Self.Table);
   end Finalize;

   ---------
   -- Get --
   ---------

   --  With GNAT on Linux, a task is aborted only in calls to the run-time library (s-taprop,
   --  Abort_Handler). So the exception handlers are sufficient. Deferring aborts would take as long
   --  as the read itself.

   overriding procedure Look_Up
     (Self     : in out Cache;
      Key      : Key_Type;
      Mode     : Read_Mode;
      Element  : in out Element_Type;
      Is_Found : out Boolean;
      Is_Due   : out Boolean)
   is
      Slot : Reader_Slots.Slot_Access := Reader_Slots.Quick_Slot;
   begin
      if Slot /= null then
         Reader_Slots.Enter_Quickly (Slot, Self.Owned_Table.Epoch);
      else
         Slot := Reader_Slots.Enter (Self.Owned_Table.Epoch);
      end if;
      Read_Node
        (Self, Tables.Find (Self.Owned_Table.Table, Key), Mode, Element, Is_Found, Is_Due);
      Reader_Slots.Leave (Slot);
   exception
      when Standard'Abort_Signal =>
         Reader_Slots.Leave (Slot);
         raise;
      when others =>
         Reader_Slots.Leave (Slot);
         raise;
   end Look_Up;

   procedure Read_Slowly
     (Self     : in out Cache;
      Key      : Key_Type;
      Element  : in out Element_Type;
      Is_Found : out Boolean)
     with No_Inline;

   procedure Read_Slowly
     (Self     : in out Cache;
      Key      : Key_Type;
      Element  : in out Element_Type;
      Is_Found : out Boolean)
   is
      Is_Due : Boolean;
   begin
      Look_Up (Self, Key, Read, Element, Is_Found, Is_Due);
   end Read_Slowly;

   procedure Read_Plainly
     (Self     : Cache;
      Key      : Key_Type;
      Element  : in out Element_Type;
      Is_Found : out Boolean)
     with Inline_Always;

   procedure Read_Plainly
     (Self     : Cache;
      Key      : Key_Type;
      Element  : in out Element_Type;
      Is_Found : out Boolean)
   is
      Node : constant Tables.Node_Access := Tables.Find (Self.Owned_Table.Table, Key);
   begin
      Is_Found := Node /= null;
      if Is_Found then
         Element := Node.Element;
      end if;
   end Read_Plainly;

   function Is_Likely (Condition : Boolean) return Boolean
     with Import, Convention => Intrinsic, External_Name => "__builtin_likely";

   --  Uses few instructions, so a processor can execute multiple reads at the same time

   overriding procedure Get
     (Self     : in out Cache;
      Key      : Key_Type;
      Element  : in out Element_Type;
      Is_Found : out Boolean)
   is
      Slot : constant Reader_Slots.Slot_Access := Reader_Slots.Quick_Slot;
   begin
      if Is_Likely (Slot /= null and then Self.Is_Plain) then
         Reader_Slots.Enter_Quickly (Slot, Self.Owned_Table.Epoch);
         Read_Plainly (Self, Key, Element, Is_Found);
         Reader_Slots.Leave (Slot);
      else
         Read_Slowly (Self, Key, Element, Is_Found);
      end if;
   exception
      when Standard'Abort_Signal =>
         Reader_Slots.Leave (Slot);
         raise;
      when others =>
         Reader_Slots.Leave (Slot);
         raise;
   end Get;

   -------------
   -- Writing --
   -------------

   overriding procedure Search
     (Self : in out Cache; Key : Key_Type; Found : in out Tables.Search)
   is
      Slot : Reader_Slots.Slot_Access := Reader_Slots.Quick_Slot;
   begin
      if Slot /= null then
         Reader_Slots.Enter_Quickly (Slot, Self.Owned_Table.Epoch);
      else
         Slot := Reader_Slots.Enter (Self.Owned_Table.Epoch);
      end if;
      Tables.Find (Self.Owned_Table.Table, Key, Found);
      Reader_Slots.Leave (Slot);
   exception
      when others =>
         Reader_Slots.Leave (Slot);
         raise;
   end Search;

   overriding procedure Apply (Self : in out Cache; Change : in out Caches.Change'Class) is
   begin
      Self.Owned_Table.Writer.Apply (Self.Capacity, Change);
      if Self.Owned_Table.Leaves then
         Self.Owned_Table.Request;
      end if;
   end Apply;

   overriding procedure Put (Self : in out Cache; Key : Key_Type; Element : Element_Type) is
   begin
      Table_Cache (Self).Put (Key, Element);
   end Put;

   overriding procedure Remove (Self : in out Cache; Key : Key_Type) is
   begin
      Table_Cache (Self).Remove (Key);
   end Remove;

   overriding procedure Clear (Self : in out Cache) is
   begin
      Table_Cache (Self).Clear;
   end Clear;

   overriding procedure Remove_Expired (Self : in out Cache) is
   begin
      Table_Cache (Self).Remove_Expired;
   end Remove_Expired;

   overriding function Length (Self : in out Cache) return Natural is
     (Tables.Length (Self.Owned_Table.Table));

   overriding function Weight (Self : in out Cache) return Natural is
     (Natural (Tables.Weight (Self.Owned_Table.Table)));

end Appserver.Caches.Wait_Free;
