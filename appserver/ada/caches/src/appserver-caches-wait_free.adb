--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

pragma Ada_2022;

with Ada.Unchecked_Deallocation;

package body Appserver.Caches.Wait_Free is

   use type Reader_Slots.Epoch;
   use type Reader_Slots.Slot_Access;
   use type Tables.Node_Access;

   Batch_Writes : constant := 64;

   procedure Free is new Ada.Unchecked_Deallocation (Batch, Batch_Access);

   protected body Writer is

      --  Puts what is unlinked into a batch, and takes out those that no reader sees any more

      procedure Reclaim (Free : in out Tables.Garbage) is
         Added  : constant Batch_Access := new Batch;
         Oldest : Reader_Slots.Epoch;
         Freed  : Batch_Access;
      begin
         Writes := 0;
         Tables.Move (From => Unlinked, To => Added.Removed);
         Added.Epoch := Reader_Slots.New_Epoch;
         if Last = null then
            First := Added;
         else
            Last.Next := Added;
         end if;
         Last := Added;
         Oldest := Reader_Slots.Oldest_Reader;
         while First /= null and then First.Epoch <= Oldest loop
            Freed := First;
            First := Freed.Next;
            Tables.Move (From => Freed.Removed, To => Free);
            Wait_Free.Free (Freed);
         end loop;
         if First = null then
            Last := null;
         end if;
      end Reclaim;

      procedure Note_Write (Free : in out Tables.Garbage) is
      begin
         Writes := Writes + 1;
         if Writes = Batch_Writes and then not Tables.Is_Empty (Unlinked) then
            Reclaim (Free);
         end if;
         Writes := Writes mod Batch_Writes;
      end Note_Write;

      procedure Put
        (Node     : not null Tables.Node_Access;
         Capacity : Positive;
         Free     : in out Tables.Garbage) is
      begin
         Tables.Put (Owner.Table, Node, Capacity, Removed => Unlinked);
         Note_Write (Free);
      end Put;

      procedure Remove (Key : Key_Type; Free : in out Tables.Garbage) is
      begin
         Tables.Remove (Owner.Table, Key, Removed => Unlinked);
         Note_Write (Free);
      end Remove;

      procedure Clear (Free : in out Tables.Garbage) is
      begin
         Tables.Clear (Owner.Table, Removed => Unlinked);
         Reclaim (Free);
      end Clear;

      procedure Take_All (Free : in out Tables.Garbage) is
         Freed : Batch_Access;
      begin
         Tables.Clear (Owner.Table, Removed => Free);
         Tables.Move (From => Unlinked, To => Free);
         while First /= null loop
            Freed := First;
            First := Freed.Next;
            Tables.Move (From => Freed.Removed, To => Free);
            Wait_Free.Free (Freed);
         end loop;
      end Take_All;

   end Writer;

   overriding procedure Finalize (Self : in out Owned_Table) is
      Removed : Tables.Garbage;
   begin
      Self.Writer.Take_All (Removed);
      Tables.Free (Removed);
   end Finalize;

   ---------
   -- Get --
   ---------

   --  With GNAT on Linux a task is aborted in calls of the run-time library only (s-taprop,
   --  Abort_Handler): the handlers are enough, and deferring it would take as long as the read.

   procedure Read
     (Self     : Cache;
      Key      : Key_Type;
      Element  : in out Element_Type;
      Is_Found : out Boolean;
      Expires  : Boolean)
     with Inline_Always;

   procedure Read
     (Self     : Cache;
      Key      : Key_Type;
      Element  : in out Element_Type;
      Is_Found : out Boolean;
      Expires  : Boolean)
   is
      Node : constant Tables.Node_Access := Tables.Find (Self.Owned.Table, Key);
   begin
      Is_Found := (if Expires then Is_Valid (Node) else Node /= null);
      if Is_Found then
         Element := Node.Element;
      end if;
   end Read;

   procedure Read_Slowly
     (Self     : Cache;
      Key      : Key_Type;
      Element  : in out Element_Type;
      Is_Found : out Boolean)
     with No_Inline;

   procedure Read_Slowly
     (Self     : Cache;
      Key      : Key_Type;
      Element  : in out Element_Type;
      Is_Found : out Boolean)
   is
      Slot : constant Reader_Slots.Slot_Access := Reader_Slots.Enter;
   begin
      Read (Self, Key, Element, Is_Found, Expires => True);
      Reader_Slots.Leave (Slot);
   exception
      when Standard'Abort_Signal =>
         Reader_Slots.Leave (Slot);
         raise;
      when others =>
         Reader_Slots.Leave (Slot);
         raise;
   end Read_Slowly;

   function Is_Likely (Condition : Boolean) return Boolean
     with Import, Convention => Intrinsic, External_Name => "__builtin_likely";

   --  Few instructions: so many reads are under way in a processor at once as it has room for

   overriding procedure Get
     (Self     : in out Cache;
      Key      : Key_Type;
      Element  : in out Element_Type;
      Is_Found : out Boolean)
   is
      Slot : constant Reader_Slots.Slot_Access := Reader_Slots.Quick_Slot;
   begin
      if Is_Likely (Slot /= null and then Self.Time_To_Live = Forever) then
         Reader_Slots.Enter_Quickly (Slot);
         Read (Self, Key, Element, Is_Found, Expires => False);
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

   --  An abort would lose what is to be freed

   overriding procedure Put (Self : in out Cache; Key : Key_Type; Element : Element_Type) is
      Removed : Tables.Garbage;
   begin
      pragma Abort_Defer;
      Self.Owned.Writer.Put (New_Node (Self, Key, Element), Self.Capacity, Removed);
      Tables.Free (Removed);
   end Put;

   overriding procedure Remove (Self : in out Cache; Key : Key_Type) is
      Removed : Tables.Garbage;
   begin
      pragma Abort_Defer;
      Self.Owned.Writer.Remove (Key, Removed);
      Tables.Free (Removed);
   end Remove;

   overriding procedure Clear (Self : in out Cache) is
      Removed : Tables.Garbage;
   begin
      pragma Abort_Defer;
      Self.Owned.Writer.Clear (Removed);
      Tables.Free (Removed);
   end Clear;

   overriding function Length (Self : in out Cache) return Natural is
     (Tables.Length (Self.Owned.Table));

end Appserver.Caches.Wait_Free;
