--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  A cache whose readers get the current map through an atomic reference, and whose writers replace
--  the map with a modified copy. The maps are persistent: a write copies the path to its entry, and
--  shares all other branches with the previous map, so it takes O(log n) time and memory. A writer
--  that loses a race against another writer retries, so no update is lost.

pragma Ada_2022;

private with Ada.Finalization;
private with Appserver.Cache_Tries;

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
   --  Puts multiple entries. If Make raises an exception, the cache does not change. If the cache
   --  has no Capacity, all entries become visible at the same time. Otherwise they become visible
   --  one after the other.
   --  @param Self the cache
   --  @param Count the number of entries
   --  @param Make returns the entry with the given number, from 1 to Count

   overriding procedure Remove (Self : in out Cache; Key : Key_Type);
   overriding procedure Clear (Self : in out Cache);
   overriding procedure Remove_Expired (Self : in out Cache);
   overriding function Length (Self : in out Cache) return Natural;
   overriding function Weight (Self : in out Cache) return Natural;

private

   package Tries is new Appserver.Cache_Tries (Key_Type, Element_Type, Hash, "=", Tables);

   type Snapshot is new Ada.Finalization.Limited_Controlled with record
      Map     : Tries.Map := null;
      Version : Tables.Change_Number := 0;
   end record;
   --  A version of the map. Once other tasks can see a version, it never changes.

   overriding procedure Finalize (Self : in out Snapshot);

   package Snapshots is new Appserver.References (Snapshot);

   type Node_List is array (Positive range <>) of Tables.Node_Access;

   type Commit_Result is (Done, Outdated, Full);
   --  The result of an attempt to change the map. Outdated: another writer has changed the map in
   --  the meantime. Full: another node must be evicted first.

   type Owned_Maps is tagged;

   protected type Writer (Owner : not null access Owned_Maps) is

      --  The caller has references to Latest, which was the current snapshot, and to the nodes. A
      --  change succeeds only if Latest is still the current snapshot.

      procedure Commit_Put
        (Latest   : Snapshots.Reference;
         Next     : Snapshots.Reference;
         Change   : in out Caches.Change'Class;
         Replaced : Tables.Node_Access;
         Evicted  : Tables.Node_Access;
         Capacity : Positive;
         Result   : out Commit_Result;
         Is_Put   : out Boolean;
         Victim   : out Tables.Node_Access);
      --  Publishes Next as the current table. In Next, Change.Node replaces Replaced, and Evicted
      --  has been removed. If the result is Full, the caller must evict Victim, which this
      --  procedure has pinned. Is_Put is False if the load of Change is outdated.

      procedure Commit_All
        (Latest : Snapshots.Reference;
         Next   : Snapshots.Reference;
         Nodes  : Node_List;
         Report : in out Tables.Report;
         Result : out Commit_Result);
      --  Publishes Next as the current table. In Next, the nodes of the batch replace the previous
      --  nodes of their keys.

      procedure Commit_Removal
        (Latest : Snapshots.Reference;
         Next   : Snapshots.Reference;
         Node   : Tables.Node_Access;
         Cause  : Tables.Removal_Cause;
         Report : in out Tables.Report;
         Result : out Commit_Result);
      --  Publishes Next, which no longer contains Node, as the current table. Node may be null.

      procedure Commit_Clear
        (Latest : Snapshots.Reference;
         Now    : Tables.Instant;
         Next   : Snapshots.Reference;
         Report : in out Tables.Report;
         Result : out Commit_Result);

      procedure Find_Expired (Now : Tables.Instant; Node : out Tables.Node_Access);
      --  Finds and pins an expired node. Sets Node to null if there is none.

      procedure Exchange (Ghosts : in out Tables.Ghosts_Access);
   private
      Version : Tables.Change_Number := 0;
   end Writer;

   type Owned_Maps is new Ada.Finalization.Limited_Controlled with record
      Current : Snapshots.Atomic_Reference;
      Order   : Tables.Order;
      --  The eviction order of the current snapshot's nodes. Only protected actions of Writer
      --  change the order.
      Writer  : Copy_On_Write.Writer (Owned_Maps'Access);
   end record;

   overriding procedure Finalize (Self : in out Owned_Maps);

   type Cache is new Caches.Cache with record
      Maps : Owned_Maps;
   end record;

   overriding procedure Look_Up
     (Self     : in out Cache;
      Key      : Key_Type;
      Mode     : Read_Mode;
      Element  : in out Element_Type;
      Is_Found : out Boolean;
      Is_Due   : out Boolean);

   overriding procedure Put_Timed
     (Self : in out Cache; Key : Key_Type; Element : Element_Type; Time_To_Live : Milliseconds);

   overriding procedure Put_Loaded
     (Self    : in out Cache;
      Key     : Key_Type;
      Element : Element_Type;
      Load    : not null access constant Pending_Load;
      Is_Put  : out Boolean);

end Appserver.Caches.Copy_On_Write;
