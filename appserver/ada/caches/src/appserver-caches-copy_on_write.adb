--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

pragma Ada_2022;

with Ada.Unchecked_Deallocation;

package body Appserver.Caches.Copy_On_Write is

   use Snapshots;

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

   procedure Free is new Ada.Unchecked_Deallocation (Snapshot, Element_Access);

   --  Returns a modified copy, which is freed if the change raises an exception

   function Changed_Copy
     (Old    : Snapshots.Reference;
      Change : not null access procedure (Table : in out Tables.Table);
      More   : Natural := 1) return not null Element_Access
   is
      Result : Element_Access := new Snapshot;
   begin
      if not Old.Is_Null then
         Tables.Copy
           (Old.Value.Table, Result.Table, Room_For => Tables.Length (Old.Value.Table) + More);
      end if;
      Change (Result.Table);
      return Result;
   exception
      when others =>
         Free (Result);
         raise;
   end Changed_Copy;

   overriding procedure Put (Self : in out Cache; Key : Key_Type; Element : Element_Type) is

      procedure Put (Table : in out Tables.Table) is
         Change : Caches.Change (Put);
      begin
         Start (Change, Key, Element, Self.Time_To_Live);
         Perform (Change, Key, Table, Self.Capacity);
      end Put;

      function Changed (Old : Snapshots.Reference) return Element_Access is
        (Changed_Copy (Old, Put'Access));

   begin
      Forget_Load (Self, Key);
      Self.Current.Update (Changed'Access);
   end Put;

   overriding procedure Put_Loaded
     (Self    : in out Cache;
      Key     : Key_Type;
      Element : Element_Type;
      Load    : not null access constant Pending_Load;
      Is_Put  : out Boolean)
   is

      procedure Put (Table : in out Tables.Table) is
         Change : Caches.Change (Put);
      begin
         Change.Load := Load.all'Unchecked_Access;
         Start (Change, Key, Element, Self.Time_To_Live);
         Perform (Change, Key, Table, Self.Capacity);
         Is_Put := Change.Node = null;
      end Put;

      --  If another task marks the load as outdated after this check, that task also replaces the
      --  snapshot, so this function is called again

      function Changed (Old : Snapshots.Reference) return Element_Access is
      begin
         Is_Put := Load.Is_Fresh;
         return (if Is_Put then Changed_Copy (Old, Put'Access) else null);
      end Changed;

   begin
      Is_Put := False;
      Self.Current.Update (Changed'Access);
   end Put_Loaded;

   procedure Put_All
     (Self  : in out Cache;
      Count : Natural;
      Make  : not null access procedure
        (Number : Positive; Key : out Key_Type; Element : out Element_Type))
   is

      procedure Put (Table : in out Tables.Table) is
         Key     : Key_Type;
         Element : Element_Type;
      begin
         for Number in 1 .. Count loop
            Make (Number, Key, Element);
            Forget_Load (Self, Key);
            declare
               Change : Caches.Change (Caches.Put);
            begin
               Start (Change, Key, Element, Self.Time_To_Live);
               Perform (Change, Key, Table, Self.Capacity);
            end;
         end loop;
      end Put;

      function Changed (Old : Snapshots.Reference) return Element_Access is
        (Changed_Copy (Old, Put'Access, More => Count));

   begin
      Self.Current.Update (Changed'Access);
   end Put_All;

   overriding procedure Remove (Self : in out Cache; Key : Key_Type) is

      Was_Loading : Boolean;

      procedure Remove (Table : in out Tables.Table) is
         Change : Caches.Change (Remove);
      begin
         Start (Change, Key);
         Perform (Change, Key, Table, Self.Capacity);
      end Remove;

      --  If Key was being loaded, a snapshot without Key is replaced, too, since the load may be
      --  about to put the element

      function Changed (Old : Snapshots.Reference) return Element_Access is
        (if Was_Loading
           or else (not Old.Is_Null and then Tables.Find (Old.Value.Table, Key) /= null)
         then Changed_Copy (Old, Remove'Access)
         else null);

   begin
      Forget_Load (Self, Key, Was_Loading);
      Self.Current.Update (Changed'Access);
   end Remove;

   --  If a load was in progress, an empty snapshot is replaced, too, as in Remove

   overriding procedure Clear (Self : in out Cache) is

      function New_Snapshot return not null Element_Access is (new Snapshot);

      Was_Loading : Boolean;
      Empty       : Snapshots.Reference;
   begin
      Forget_Loads (Self, Was_Loading);
      if Was_Loading then
         Empty.Create (New_Snapshot'Access);
      end if;
      Self.Current.Set (Empty);
   end Clear;

   overriding procedure Remove_Expired (Self : in out Cache) is

      procedure Keep (Table : in out Tables.Table) is null;  --  copying omits expired nodes

      function Changed (Old : Snapshots.Reference) return Element_Access is
        (if Old.Is_Null or else not Tables.Has_Expired (Old.Value.Table)
         then null else Changed_Copy (Old, Keep'Access));

   begin
      Self.Current.Update (Changed'Access);
   end Remove_Expired;

   overriding function Length (Self : in out Cache) return Natural is
      Latest : Snapshots.Reference;
   begin
      Self.Current.Get (Into => Latest);
      return (if Latest.Is_Null then 0 else Tables.Length (Latest.Value.Table));
   end Length;

end Appserver.Caches.Copy_On_Write;
