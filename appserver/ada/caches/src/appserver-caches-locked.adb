--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

pragma Ada_2022;

package body Appserver.Caches.Locked is

   protected body Guarded_Table is

      function Has_Next (Found : in out Tables.Search) return Boolean is
      begin
         Tables.Find_Next (Table, Found);
         if Found.Node /= null then
            Tables.Pin (Found.Node);
         end if;
         return Found.Node /= null;
      end Has_Next;

      procedure Apply (Capacity : Positive; Change : in out Caches.Change'Class) is
      begin
         Apply (Change, Table, Capacity, Change.Removed);
      end Apply;

      procedure Free_Ghosts is
      begin
         Tables.Free_Ghosts (Table);
      end Free_Ghosts;

      function Length return Natural is (Tables.Length (Table));

      function Weight return Tables.Total_Weight is (Tables.Weight (Table));

   end Guarded_Table;

   overriding procedure Finalize (Self : in out Owned_Table) is
      Change : Caches.Change (Clear);
   begin
      Self.Guarded.Apply (1, Change);
      Self.Guarded.Free_Ghosts;
   end Finalize;

   -------------
   -- Reading --
   -------------

   --  Found.Node is cleared first: if the finalization of the node raises an exception, the
   --  handlers below must not release the node again

   procedure Release (Found : in out Tables.Search) is
      Node : Tables.Node_Access := Found.Node;
   begin
      Found.Node := null;
      Tables.Release (Node);
   end Release;

   --  Finds a node and pins it

   procedure Find (Self : Cache; Key : Key_Type; Found : in out Tables.Search) with Inline;

   procedure Find (Self : Cache; Key : Key_Type; Found : in out Tables.Search) is
   begin
      while Self.Table.Guarded.Has_Next (Found) and then not (Found.Node.Key = Key) loop
         Found.After := Found.Node.Number;
         Release (Found);
      end loop;
   end Find;

   overriding procedure Look_Up
     (Self     : in out Cache;
      Key      : Key_Type;
      Mode     : Read_Mode;
      Element  : in out Element_Type;
      Is_Found : out Boolean;
      Is_Due   : out Boolean)
   is
      Found : Tables.Search;
   begin
      Found.Hash := Tables.Mixed_Hash (Key);
      Find (Self, Key, Found);
      Read_Node (Self, Found.Node, Mode, Element, Is_Found, Is_Due);
      Release (Found);
   exception
      when Standard'Abort_Signal =>
         Release (Found);
         raise;
      when others =>
         Release (Found);
         raise;
   end Look_Up;

   overriding procedure Get
     (Self     : in out Cache;
      Key      : Key_Type;
      Element  : in out Element_Type;
      Is_Found : out Boolean)
   is
      Is_Due : Boolean;
   begin
      Look_Up (Self, Key, Read, Element, Is_Found, Is_Due);
   end Get;

   overriding function Length (Self : in out Cache) return Natural is
     (Self.Table.Guarded.Length);

   overriding function Weight (Self : in out Cache) return Natural is
     (Natural (Self.Table.Guarded.Weight));

   -------------
   -- Writing --
   -------------

   --  Releases the pin at the end: the node is only used to find it in the table again

   overriding procedure Search
     (Self : in out Cache; Key : Key_Type; Found : in out Tables.Search)
   is
      Node : Tables.Node_Access;
   begin
      Found.After := 0;
      Find (Self, Key, Found);
      Node := Found.Node;
      Release (Found);
      Found.Node := Node;
   exception
      when others =>
         Release (Found);
         raise;
   end Search;

   overriding procedure Apply (Self : in out Cache; Change : in out Caches.Change'Class) is
   begin
      Self.Table.Guarded.Apply (Self.Capacity, Change);
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

end Appserver.Caches.Locked;
