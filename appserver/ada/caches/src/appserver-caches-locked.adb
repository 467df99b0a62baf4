--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

pragma Ada_2022;

package body Appserver.Caches.Locked is

   protected body Guarded_Table is

      function Has (Key : Key_Type; Element : in out Element_Type) return Boolean is
         Node : constant Tables.Node_Access := Tables.Find (Table, Key);
      begin
         return Result : constant Boolean := Is_Valid (Node) do
            if Result then
               Element := Node.Element;
            end if;
         end return;
      end Has;

      procedure Put (Capacity : Positive; Change : in out Caches.Change) is
      begin
         Put (Table, Capacity, Change);
      end Put;

      procedure Put_Loaded
        (Capacity : Positive;
         Load     : Pending_Load;
         Change   : in out Caches.Change;
         Is_Put   : out Boolean) is
      begin
         Is_Put := Is_To_Be_Kept (Table, Load, Change);
         if Is_Put then
            Put (Table, Capacity, Change);
         end if;
      end Put_Loaded;

      procedure Remove (Key : Key_Type; Removed : in out Tables.Garbage) is
      begin
         Tables.Remove (Table, Key, Removed);
      end Remove;

      procedure Remove_Expired (Removed : in out Tables.Garbage) is
      begin
         Tables.Remove_Expired (Table, Removed);
      end Remove_Expired;

      procedure Clear (Removed : in out Tables.Garbage) is
      begin
         Tables.Clear (Table, Removed);
      end Clear;

      function Length return Natural is (Tables.Length (Table));

   end Guarded_Table;

   overriding procedure Finalize (Self : in out Owned_Table) is
      Removed : Tables.Garbage;
   begin
      Self.Guarded.Clear (Removed);
      Tables.Free (Removed);
   end Finalize;

   overriding procedure Get
     (Self     : in out Cache;
      Key      : Key_Type;
      Element  : in out Element_Type;
      Is_Found : out Boolean) is
   begin
      Is_Found := Self.Table.Guarded.Has (Key, Element);
   end Get;

   --  An abort would lose what is to be freed

   overriding procedure Put (Self : in out Cache; Key : Key_Type; Element : Element_Type) is
      Change : Caches.Change;
   begin
      pragma Abort_Defer;
      Forget_Load (Self, Key);
      Make_Node (Self, Key, Element, Into => Change);
      Self.Table.Guarded.Put (Self.Capacity, Change);
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
      Self.Table.Guarded.Put_Loaded (Self.Capacity, Load, Change, Is_Put);
   end Put_Loaded;

   overriding procedure Remove (Self : in out Cache; Key : Key_Type) is
      Change : Caches.Change;
   begin
      pragma Abort_Defer;
      Forget_Load (Self, Key);
      Self.Table.Guarded.Remove (Key, Change.Removed);
   end Remove;

   overriding procedure Clear (Self : in out Cache) is
      Change : Caches.Change;
   begin
      pragma Abort_Defer;
      Forget_Loads (Self);
      Self.Table.Guarded.Clear (Change.Removed);
   end Clear;

   overriding procedure Remove_Expired (Self : in out Cache) is
      Change : Caches.Change;
   begin
      pragma Abort_Defer;
      Self.Table.Guarded.Remove_Expired (Change.Removed);
   end Remove_Expired;

   overriding function Length (Self : in out Cache) return Natural is
     (Self.Table.Guarded.Length);

end Appserver.Caches.Locked;
