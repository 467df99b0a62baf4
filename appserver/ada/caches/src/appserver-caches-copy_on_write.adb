--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

pragma Ada_2022;

with Ada.Unchecked_Deallocation;

package body Appserver.Caches.Copy_On_Write is

   use Snapshots;
   use type Tables.Node_Access;

   overriding procedure Finalize (Self : in out Snapshot) is
      Removed : Tables.Garbage;
   begin
      Tables.Clear (Self.Table, Removed);
      Tables.Free (Removed);
   end Finalize;

   overriding procedure Get
     (Self     : in out Cache;
      Key      : Key_Type;
      Element  : in out Element_Type;
      Is_Found : out Boolean)
   is
      Latest : Snapshots.Reference;
      Node   : Tables.Node_Access;
   begin
      Is_Found := False;
      Self.Current.Get (Into => Latest);
      if not Latest.Is_Null then
         Node := Tables.Find (Latest.Value.Table, Key);
         if Is_Valid (Node) then
            Is_Found := True;
            Element := Node.Element;
         end if;
      end if;
   end Get;

   function Copy_Of
     (Old : Snapshots.Reference; More : Natural := 1) return not null Element_Access
   is
      Result : constant not null Element_Access := new Snapshot;
   begin
      if not Old.Is_Null then
         Tables.Copy
           (Old.Value.Table, Result.Table, Room_For => Tables.Length (Old.Value.Table) + More);
      end if;
      return Result;
   end Copy_Of;

   overriding procedure Put (Self : in out Cache; Key : Key_Type; Element : Element_Type) is

      function Changed (Old : Snapshots.Reference) return Element_Access is
         Result  : constant not null Element_Access := Copy_Of (Old);
         Removed : Tables.Garbage;
      begin
         Tables.Put (Result.Table, New_Node (Self, Key, Element), Self.Capacity, Removed);
         Tables.Free (Removed);
         return Result;
      end Changed;

   begin
      Self.Current.Update (Changed'Access);
   end Put;

   procedure Free is new Ada.Unchecked_Deallocation (Snapshot, Element_Access);

   procedure Put_All
     (Self  : in out Cache;
      Count : Natural;
      Make  : not null access procedure
        (Number : Positive; Key : out Key_Type; Element : out Element_Type))
   is

      function Changed (Old : Snapshots.Reference) return Element_Access is
         Result  : Element_Access := Copy_Of (Old, More => Count);
         Removed : Tables.Garbage;
         Key     : Key_Type;
         Element : Element_Type;
      begin
         for Number in 1 .. Count loop
            Make (Number, Key, Element);
            Tables.Put (Result.Table, New_Node (Self, Key, Element), Self.Capacity, Removed);
         end loop;
         Tables.Free (Removed);
         return Result;
      exception
         when others =>
            Tables.Free (Removed);
            Free (Result);
            raise;
      end Changed;

   begin
      Self.Current.Update (Changed'Access);
   end Put_All;

   overriding procedure Remove (Self : in out Cache; Key : Key_Type) is

      function Changed (Old : Snapshots.Reference) return Element_Access is
         Result  : Element_Access;
         Removed : Tables.Garbage;
      begin
         if Old.Is_Null or else Tables.Find (Old.Value.Table, Key) = null then
            return null;
         end if;
         Result := Copy_Of (Old);
         Tables.Remove (Result.Table, Key, Removed);
         Tables.Free (Removed);
         return Result;
      end Changed;

   begin
      Self.Current.Update (Changed'Access);
   end Remove;

   overriding procedure Clear (Self : in out Cache) is
   begin
      Self.Current.Set (Null_Reference);
   end Clear;

   overriding function Length (Self : in out Cache) return Natural is
      Latest : Snapshots.Reference;
   begin
      Self.Current.Get (Into => Latest);
      return (if Latest.Is_Null then 0 else Tables.Length (Latest.Value.Table));
   end Length;

end Appserver.Caches.Copy_On_Write;
