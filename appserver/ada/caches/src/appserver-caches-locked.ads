--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  A cache guarded by a protected object. Readers call a protected function. GNAT runs protected
--  functions concurrently only with pragma Locking_Policy (Concurrent_Readers_Locking). A reader
--  does not hold the lock while it compares keys and copies an element. Instead, it pins the entry.
--  If the entry has been removed, the last task that unpins it frees it.

pragma Ada_2022;

private with Ada.Finalization;

generic
package Appserver.Caches.Locked is

   type Cache is new Caches.Cache with private;

   overriding procedure Get
     (Self     : in out Cache;
      Key      : Key_Type;
      Element  : in out Element_Type;
      Is_Found : out Boolean);

   overriding procedure Put (Self : in out Cache; Key : Key_Type; Element : Element_Type);
   overriding procedure Remove (Self : in out Cache; Key : Key_Type);
   overriding procedure Clear (Self : in out Cache);
   overriding procedure Remove_Expired (Self : in out Cache);
   overriding function Length (Self : in out Cache) return Natural;
   overriding function Weight (Self : in out Cache) return Natural;

private

   protected type Guarded_Table is

      function Has_Next (Found : in out Tables.Search) return Boolean;
      --  Finds and pins the next node with the hash of the search. Returns False if there is none.

      procedure Apply (Capacity : Positive; Change : in out Caches.Change'Class);
      --  Applies Change to the table. The caller frees the removed entries after it has released
      --  the lock.

      procedure Free_Ghosts;

      function Length return Natural;
      function Weight return Tables.Total_Weight;
   private
      Table : Tables.Table;
   end Guarded_Table;

   type Owned_Table is new Ada.Finalization.Limited_Controlled with record
      Guarded : Guarded_Table;
   end record;

   overriding procedure Finalize (Self : in out Owned_Table);

   type Cache is new Table_Cache with record
      Table : Owned_Table;
   end record;

   overriding procedure Look_Up
     (Self     : in out Cache;
      Key      : Key_Type;
      Mode     : Read_Mode;
      Element  : in out Element_Type;
      Is_Found : out Boolean;
      Is_Due   : out Boolean);

   overriding procedure Search
     (Self : in out Cache; Key : Key_Type; Found : in out Tables.Search);

   overriding procedure Apply (Self : in out Cache; Change : in out Caches.Change'Class);

end Appserver.Caches.Locked;
