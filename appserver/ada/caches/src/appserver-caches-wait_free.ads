--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  A cache whose readers never wait for other tasks. A reader writes only to a slot of its own
--  thread, so readers do not contend for cache lines. Writers wait for each other.
--
--  Entries that writers replace or remove are freed when the tasks that were reading the cache at
--  that time have finished: by one of the next 64 writes, by Clear or Remove_Expired, or by a task
--  of this library within about a tenth of a second. A read that never ends, since Hash or "="
--  does not return, keeps all later ones in memory; reads, writes and growth go on.

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
   --  An abort during the call leaves nothing behind

   overriding procedure Put (Self : in out Cache; Key : Key_Type; Element : Element_Type);
   overriding procedure Remove (Self : in out Cache; Key : Key_Type);
   overriding procedure Clear (Self : in out Cache);
   overriding procedure Remove_Expired (Self : in out Cache);
   overriding function Length (Self : in out Cache) return Natural;

private

   type Owned_Table is tagged;

   protected type Writer (Owner : not null access Owned_Table) is

      --  The caller frees what these return: no task can see it

      procedure Apply (Capacity : Positive; Change : in out Caches.Change'Class);
      procedure Reclaim (Free : in out Tables.Garbage; Is_Done : out Boolean);
      procedure Take_All (Free : in out Tables.Garbage);
      --  Called when no reader is left
   private
      Unlinked : Tables.Garbage;
      --  Removed from the table since Unseen was filled
      Unseen   : Tables.Garbage;
      --  Readers that enter in the epoch Since, or later, do not see it
      Unused   : Tables.Garbage;
      --  No reader sees it, so it can be freed
      Since    : Reader_Slots.Stamp := 0;
      Writes   : Natural := 0;
      --  Since the last attempt to free
   end Writer;

   type Owned_Table is new Reclaimers.Owner with record
      Table  : Tables.Table;
      Epoch  : Reader_Slots.Stamp := Reader_Slots.New_Table_Stamp;
      Writer : Wait_Free.Writer (Owned_Table'Access);
      Leaves : Boolean := False with Volatile;
      --  True if the latest write left something to be freed
   end record;

   overriding procedure Reclaim (Self : in out Owned_Table; Is_Done : out Boolean);
   overriding procedure Finalize (Self : in out Owned_Table);

   type Cache is new Table_Cache with record
      Owned : Owned_Table;
   end record;

   overriding procedure Search
     (Self : in out Cache; Key : Key_Type; Found : in out Tables.Search);

   overriding procedure Apply (Self : in out Cache; Change : in out Caches.Change'Class);

end Appserver.Caches.Wait_Free;
