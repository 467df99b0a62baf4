--  SPDX-License-Identifier: Apache-2.0

package body Appserver.Caches.Unsynchronized is

   overriding procedure Finalize (Self : in out Owned_Table) is
      Gone       : Tables.Garbage;
      Unreported : Tables.Report;
   begin
      Tables.Clear (Self.Table, 0, Gone, Unreported);
      Tables.Free (Gone);
      Tables.Free_Ghosts (Self.Table);
   end Finalize;

   overriding procedure Get
     (Self     : in out Cache;
      Key      : Key_Type;
      Element  : in out Element_Type;
      Is_Found : out Boolean)
   is
      Node : constant Tables.Node_Access := Tables.Find (Self.Table_Owner.Table, Key);
   begin
      Is_Found := Node /= null;
      if Is_Found then
         Element := Node.Element;
      end if;
   end Get;

   overriding procedure Put (Self : in out Cache; Key : Key_Type; Element : Element_Type) is
      Change : Caches.Change (Put);
   begin
      Start (Change, Self, Key, Element);
      Perform (Change, Key, Self.Table_Owner.Table, Self.Capacity);
   end Put;

   overriding procedure Remove (Self : in out Cache; Key : Key_Type) is
      Change : Caches.Change (Remove);
   begin
      Start (Change, Self, Key);
      Perform (Change, Key, Self.Table_Owner.Table, Self.Capacity);
   end Remove;

   overriding procedure Clear (Self : in out Cache) is
      Gone       : Tables.Garbage;
      Unreported : Tables.Report;
   begin
      Tables.Clear (Self.Table_Owner.Table, 0, Gone, Unreported);
      Tables.Free (Gone);
   end Clear;

   overriding function Length (Self : in out Cache) return Natural is
     (Tables.Length (Self.Table_Owner.Table));

end Appserver.Caches.Unsynchronized;
