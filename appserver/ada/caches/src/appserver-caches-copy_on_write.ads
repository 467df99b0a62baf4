--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  A cache whose readers get the current map by an atomic reference, and whose writers replace it
--  by a changed copy. Each write copies the map: O(n) time and memory. Writers that race retry, so
--  no update is lost.

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
   --  Puts multiple entries with one copy of the map. If Make raises an exception, the cache does
   --  not change.
   --  @param Self the cache
   --  @param Count the number of entries
   --  @param Make returns an entry by its number, from 1. It must not call the cache. It is called
   --  again for all entries if another writer was faster.

   overriding procedure Remove (Self : in out Cache; Key : Key_Type);
   overriding procedure Clear (Self : in out Cache);
   overriding procedure Remove_Expired (Self : in out Cache);
   overriding function Length (Self : in out Cache) return Natural;

private

   type Snapshot is new Ada.Finalization.Limited_Controlled with record
      Table : Tables.Table;
   end record;
   --  Does not change once it is shared

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
