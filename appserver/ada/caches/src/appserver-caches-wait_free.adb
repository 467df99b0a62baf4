--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

pragma Ada_2022;

package body Appserver.Caches.Wait_Free is

   use type Reader_Slots.Slot_Access;
   use type Reader_Slots.Stamp;
   use type Tables.Node_Access;

   Batch_Writes : constant := 64;

   protected body Writer is

      --  Takes what no reader sees any more

      procedure Reclaim (Free : in out Tables.Garbage) is
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
            Tables.Move (From => Unseen, To => Free);
         end loop;
      end Reclaim;

      procedure Note_Write (Free : in out Tables.Garbage) is
      begin
         Writes := Writes + 1;
         if Writes = Batch_Writes then
            Reclaim (Free);
         end if;
      end Note_Write;

      procedure Put (Capacity : Positive; Change : in out Caches.Change) is
      begin
         Tables.Put (Owner.Table, Change.Node, Capacity, Removed => Unlinked);
         Change.Node := null;
         Note_Write (Change.Removed);
      end Put;

      procedure Put_Loaded
        (Capacity : Positive;
         Load     : Pending_Load;
         Change   : in out Caches.Change;
         Is_Put   : out Boolean) is
      begin
         Is_Put := Is_To_Be_Kept (Owner.Table, Load, Change);
         if Is_Put then
            Put (Capacity, Change);
         end if;
      end Put_Loaded;

      procedure Remove (Key : Key_Type; Free : in out Tables.Garbage) is
      begin
         Tables.Remove (Owner.Table, Key, Removed => Unlinked);
         Note_Write (Free);
      end Remove;

      procedure Remove_Expired (Free : in out Tables.Garbage) is
      begin
         Tables.Remove_Expired (Owner.Table, Removed => Unlinked);
         Reclaim (Free);
      end Remove_Expired;

      procedure Clear (Free : in out Tables.Garbage) is
      begin
         Tables.Clear (Owner.Table, Removed => Unlinked);
         Reclaim (Free);
      end Clear;

      procedure Take_All (Free : in out Tables.Garbage) is
      begin
         Tables.Clear (Owner.Table, Removed => Free);
         Tables.Move (From => Unlinked, To => Free);
         Tables.Move (From => Unseen, To => Free);
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
      Slot : constant Reader_Slots.Slot_Access := Reader_Slots.Enter (Self.Owned.Epoch);
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
         Reader_Slots.Enter_Quickly (Slot, Self.Owned.Epoch);
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
      Change : Caches.Change;
   begin
      pragma Abort_Defer;
      Forget_Load (Self, Key);
      Make_Node (Self, Key, Element, Into => Change);
      Self.Owned.Writer.Put (Self.Capacity, Change);
   end Put;

   overriding procedure Put_Loaded
     (Self    : in out Cache;
      Key     : Key_Type;
      Element : Element_Type;
      Load    : Pending_Load;
      Is_Put  : out Boolean)
   is
      Change : Caches.Change;
   begin
      pragma Abort_Defer;
      Make_Node (Self, Key, Element, Into => Change);
      Self.Owned.Writer.Put_Loaded (Self.Capacity, Load, Change, Is_Put);
   end Put_Loaded;

   overriding procedure Remove (Self : in out Cache; Key : Key_Type) is
      Change : Caches.Change;
   begin
      pragma Abort_Defer;
      Forget_Load (Self, Key);
      Self.Owned.Writer.Remove (Key, Change.Removed);
   end Remove;

   overriding procedure Clear (Self : in out Cache) is
      Change : Caches.Change;
   begin
      pragma Abort_Defer;
      Forget_Loads (Self);
      Self.Owned.Writer.Clear (Change.Removed);
   end Clear;

   overriding procedure Remove_Expired (Self : in out Cache) is
      Change : Caches.Change;
   begin
      pragma Abort_Defer;
      Self.Owned.Writer.Remove_Expired (Change.Removed);
   end Remove_Expired;

   overriding function Length (Self : in out Cache) return Natural is
     (Tables.Length (Self.Owned.Table));

end Appserver.Caches.Wait_Free;
