--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  A cache whose readers get the current map through an atomic reference, and whose writers replace
--  the map with a modified copy. Each write copies the map, which takes O(n) time and memory. A
--  writer that loses a race against another writer retries, so no update is lost.

pragma Ada_2022;

private with Ada.Finalization;

generic
package Appserver.Caches.Copy_On_Write is

   type Cache is new Caches.Cache with private;

   overriding procedure Get
     (Self     : in out Cache;
      Key      : Key_Type;
      Element  : in out Element_Type;
      Is_Found : out Boolean);

   overriding procedure Put (Self : in out Cache; Key : Key_Type; Element : Element_Type);

   procedure Put_All
     (Self  : in out Cache;
      Count : Natural;
      Make  : not null access procedure
        (Number : Positive; Key : out Key_Type; Element : out Element_Type));
   --  Puts multiple entries, but copies the map only once. If Make raises an exception, the cache
   --  does not change.
   --  @param Self the cache
   --  @param Count the number of entries
   --  @param Make returns the entry with the given number, from 1 to Count. Make must not call the
   --  cache. If another writer was faster, Make is called again for all entries.

   overriding procedure Remove (Self : in out Cache; Key : Key_Type);
   overriding procedure Clear (Self : in out Cache);
   overriding procedure Remove_Expired (Self : in out Cache);
   overriding function Length (Self : in out Cache) return Natural;

private

   type Snapshot is new Ada.Finalization.Limited_Controlled with record
      Table : Tables.Table;
   end record;
   --  Immutable once it is shared

   overriding procedure Finalize (Self : in out Snapshot);

   package Snapshots is new Appserver.References (Snapshot);

   type Cache is new Caches.Cache with record
      Current : Snapshots.Atomic_Reference;
   end record;

   overriding procedure Put_Loaded
     (Self    : in out Cache;
      Key     : Key_Type;
      Element : Element_Type;
      Load    : not null access constant Pending_Load;
      Is_Put  : out Boolean);

end Appserver.Caches.Copy_On_Write;
