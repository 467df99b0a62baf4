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

      procedure Put
        (Node     : not null Tables.Node_Access;
         Capacity : Positive;
         Removed  : in out Tables.Garbage) is
      begin
         Tables.Put (Table, Node, Capacity, Removed);
      end Put;

      procedure Remove (Key : Key_Type; Removed : in out Tables.Garbage) is
      begin
         Tables.Remove (Table, Key, Removed);
      end Remove;

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
      Removed : Tables.Garbage;
   begin
      pragma Abort_Defer;
      Self.Table.Guarded.Put (New_Node (Self, Key, Element), Self.Capacity, Removed);
      Tables.Free (Removed);
   end Put;

   overriding procedure Remove (Self : in out Cache; Key : Key_Type) is
      Removed : Tables.Garbage;
   begin
      pragma Abort_Defer;
      Self.Table.Guarded.Remove (Key, Removed);
      Tables.Free (Removed);
   end Remove;

   overriding procedure Clear (Self : in out Cache) is
   begin
      Finalize (Self.Table);
   end Clear;

   overriding function Length (Self : in out Cache) return Natural is
     (Self.Table.Guarded.Length);

end Appserver.Caches.Locked;
