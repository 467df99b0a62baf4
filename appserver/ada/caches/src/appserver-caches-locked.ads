--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  A cache behind a protected object. Readers call a protected function; GNAT lets these run at the
--  same time only with pragma Locking_Policy (Concurrent_Readers_Locking).

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

private

   protected type Guarded_Table is

      function Has (Key : Key_Type; Element : in out Element_Type) return Boolean;

      --  The caller frees what is removed, outside of the lock

      procedure Put (Capacity : Positive; Change : in out Caches.Change);
      procedure Put_Loaded
        (Capacity : Positive;
         Load     : Pending_Load;
         Change   : in out Caches.Change;
         Is_Put   : out Boolean);
      procedure Remove (Key : Key_Type; Removed : in out Tables.Garbage);
      procedure Remove_Expired (Removed : in out Tables.Garbage);
      procedure Clear (Removed : in out Tables.Garbage);
      function Length return Natural;
   private
      Table : Tables.Table;
   end Guarded_Table;

   type Owned_Table is new Ada.Finalization.Limited_Controlled with record
      Guarded : Guarded_Table;
   end record;

   overriding procedure Finalize (Self : in out Owned_Table);

   type Cache is new Caches.Cache with record
      Table : Owned_Table;
   end record;

   overriding procedure Put_Loaded
     (Self    : in out Cache;
      Key     : Key_Type;
      Element : Element_Type;
      Load    : Pending_Load;
      Is_Put  : out Boolean);

end Appserver.Caches.Locked;
