--  SPDX-License-Identifier: Apache-2.0

package body Appserver.Caches.Unsynchronized is

   overriding procedure Finalize (Self : in out Owned_Table) is
      Gone : Tables.Garbage;
   begin
      Tables.Clear (Self.Table, Gone);
      Tables.Free (Gone);
   end Finalize;

   overriding procedure Get
     (Self     : in out Cache;
      Key      : Key_Type;
      Element  : in out Element_Type;
      Is_Found : out Boolean)
   is
      Node : constant Tables.Node_Access := Tables.Find (Self.Owned.Table, Key);
   begin
      Is_Found := Is_Valid (Node);
      if Is_Found then
         Element := Node.Element;
      end if;
   end Get;

   overriding procedure Put (Self : in out Cache; Key : Key_Type; Element : Element_Type) is
      Change : Caches.Change (Put);
   begin
      Start (Change, Key, Element, Self.Time_To_Live);
      Perform (Change, Key, Self.Owned.Table, Self.Capacity);
   end Put;

   overriding procedure Remove (Self : in out Cache; Key : Key_Type) is
      Change : Caches.Change (Remove);
   begin
      Start (Change, Key);
      Perform (Change, Key, Self.Owned.Table, Self.Capacity);
   end Remove;

   overriding procedure Clear (Self : in out Cache) is
      Gone : Tables.Garbage;
   begin
      Tables.Clear (Self.Owned.Table, Gone);
      Tables.Free (Gone);
   end Clear;

   overriding function Length (Self : in out Cache) return Natural is
     (Tables.Length (Self.Owned.Table));

end Appserver.Caches.Unsynchronized;
