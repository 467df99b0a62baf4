--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  A cache whose readers never wait for other tasks. A reader writes only to a slot of its own
--  thread, so readers do not contend for cache lines; in a cache with a capacity, a reader also
--  counts up to three reads of an entry. Writers wait for each other.
--
--  Entries that writers replace or remove are freed after the tasks that were reading the cache at
--  that time have finished their reads. One of the next 64 writes, Clear, Remove_Expired, or a
--  background task of this library frees these entries. The background task runs within about a
--  tenth of a second. Clear does not wait for the background task, which may still be finalizing
--  entries that were replaced earlier. If a read never ends because Hash or "=" does not return,
--  entries replaced or removed after its start are never freed. Reads, writes and growth of the
--  table still work.

pragma Ada_2022;

private with Appserver.Reader_Slots;
private with Appserver.Reclaimers;

generic
package Appserver.Caches.Wait_Free is

   type Cache is new Caches.Cache with private;

   overriding procedure Get
     (Self     : in out Cache;
      Key      : Key_Type;
      Element  : in out Element_Type;
      Is_Found : out Boolean);
   --  Looks up a key. An abort of the task during the call leaks no memory.

   overriding procedure Put (Self : in out Cache; Key : Key_Type; Element : Element_Type);
   overriding procedure Remove (Self : in out Cache; Key : Key_Type);
   overriding procedure Clear (Self : in out Cache);
   overriding procedure Remove_Expired (Self : in out Cache);
   overriding function Length (Self : in out Cache) return Natural;
   overriding function Weight (Self : in out Cache) return Natural;

private

   type Owned_Table is tagged;

   protected type Writer (Owner : not null access Owned_Table) is

      --  The caller frees the garbage that these procedures return. No other task can see this
      --  garbage.

      procedure Apply (Capacity : Positive; Change : in out Caches.Change'Class);
      procedure Reclaim (Free : in out Tables.Garbage; Is_Done : out Boolean);
      procedure Take_All (Free : in out Tables.Garbage);
      --  Moves all nodes to Free. Must be called only when no task reads the table.
   private
      Unlinked : Tables.Garbage;
      --  Nodes removed from the table since Unseen was last filled
      Unseen   : Tables.Garbage;
      --  Nodes that are invisible to readers that enter in epoch Since or later
      Unused   : Tables.Garbage;
      --  Nodes that no reader can see, so they can be freed
      Since    : Reader_Slots.Stamp := 0;
      Writes   : Natural := 0;
      --  The number of writes since the last attempt to free memory
   end Writer;

   type Owned_Table is new Reclaimers.Owner with record
      Table  : Tables.Table;
      Epoch  : Reader_Slots.Stamp := Reader_Slots.New_Table_Stamp;
      Writer : Wait_Free.Writer (Owned_Table'Access);
      Leaves : Boolean := False with Volatile;
      --  True if nodes remain to be freed after the latest write
   end record;

   overriding procedure Reclaim (Self : in out Owned_Table; Is_Done : out Boolean);
   overriding procedure Finalize (Self : in out Owned_Table);

   type Cache is new Table_Cache with record
      Owned_Table : Wait_Free.Owned_Table;
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

end Appserver.Caches.Wait_Free;
