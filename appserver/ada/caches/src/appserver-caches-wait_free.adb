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
         Owner.Leaves := not (Tables.Is_Empty (Unlinked) and then Tables.Is_Empty (Unseen));
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
         Owner.Leaves := not Tables.Is_Empty (Unseen);
      end Remove_Expired;

      procedure Clear (Free : in out Tables.Garbage) is
      begin
         Tables.Clear (Owner.Table, Removed => Unlinked);
         Reclaim (Free);
         Owner.Leaves := not Tables.Is_Empty (Unseen);
      end Clear;

      procedure Reclaim (Free : in out Tables.Garbage; Is_Done : out Boolean) is
      begin
         Reclaim (Free);
         Is_Done := Tables.Is_Empty (Unseen);
      end Reclaim;

      procedure Take_All (Free : in out Tables.Garbage) is
      begin
         Tables.Clear (Owner.Table, Removed => Free);
         Tables.Move (From => Unlinked, To => Free);
         Tables.Move (From => Unseen, To => Free);
      end Take_All;

   end Writer;

   overriding procedure Reclaim (Self : in out Owned_Table; Is_Done : out Boolean) is
      Change : Caches.Change;
   begin
      Self.Writer.Reclaim (Change.Removed, Is_Done);
   end Reclaim;

   overriding procedure Finalize (Self : in out Owned_Table) is
      Removed : Tables.Garbage;
   begin
      Self.Withdraw;
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

   procedure Free_Later (Self : in out Cache) is
   begin
      if Self.Owned.Leaves then
         Self.Owned.Request;
      end if;
   end Free_Later;

   --  An abort would lose what is to be freed

   overriding procedure Put (Self : in out Cache; Key : Key_Type; Element : Element_Type) is
      Change : Caches.Change;
   begin
      pragma Abort_Defer;
      Forget_Load (Self, Key);
      Make_Node (Self, Key, Element, Into => Change);
      Self.Owned.Writer.Put (Self.Capacity, Change);
      Free_Later (Self);
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
      Free_Later (Self);
   end Put_Loaded;

   overriding procedure Remove (Self : in out Cache; Key : Key_Type) is
      Change : Caches.Change;
   begin
      pragma Abort_Defer;
      Forget_Load (Self, Key);
      Self.Owned.Writer.Remove (Key, Change.Removed);
      Free_Later (Self);
   end Remove;

   overriding procedure Clear (Self : in out Cache) is
      Change : Caches.Change;
   begin
      pragma Abort_Defer;
      Forget_Loads (Self);
      Self.Owned.Writer.Clear (Change.Removed);
      Free_Later (Self);
   end Clear;

   overriding procedure Remove_Expired (Self : in out Cache) is
      Change : Caches.Change;
   begin
      pragma Abort_Defer;
      Self.Owned.Writer.Remove_Expired (Change.Removed);
      Free_Later (Self);
   end Remove_Expired;

   overriding function Length (Self : in out Cache) return Natural is
     (Tables.Length (Self.Owned.Table));

end Appserver.Caches.Wait_Free;
