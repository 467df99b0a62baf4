--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Concurrent maps that are read often and written rarely. There are three kinds, which are generic
--  children without parameters. A program can exchange one kind for another:
--
--     Wait_Free       readers never wait, and write to no memory that tasks share
--     Copy_On_Write   readers never wait; each write copies the map. For small maps.
--     Locked          a protected object
--
--     package Prices is new Appserver.Caches (Article, Money, Hash);
--     package Price_Caches is new Prices.Wait_Free;
--     Cache : Price_Caches.Cache (Capacity => 10_000, Time_To_Live => 60_000);
--     …
--     Price := Cache.Get_Or_Load (Article_7, From_Database'Access);

pragma Ada_2022;

with Ada.Containers;

private with Ada.Exceptions;
private with Ada.Finalization;
private with Ada.Task_Identification;
private with Appserver.Cache_Tables;
private with Appserver.Load_Waits;
private with Appserver.References;

generic
   type Key_Type is private;
   type Element_Type is private;
   with function Hash (Key : Key_Type) return Ada.Containers.Hash_Type;
   with function "=" (Left, Right : Key_Type) return Boolean is <>;

   --  Hash, "=", and the copying and finalization of keys and elements must not call the cache.
   --  They may run in multiple tasks at once. None of them runs in a protected action or while a
   --  lock is held: one that blocks, takes long or raises an exception affects only the task that
   --  called it.
   --
   --  For wait-free caches, finalization may also run in a task of this library. The end of a cache
   --  waits until that task has finalized the cache's entries. If a finalization never returns,
   --  neither does the end of its cache, and other caches free memory only in later writes.

package Appserver.Caches is

   pragma Assertion_Policy (Pre => Check);

   Unlimited : constant Positive := Positive'Last;

   type Milliseconds is range 1 .. 2 ** 31 - 1;
   Forever : constant Milliseconds := Milliseconds'Last;

   type Cache
     (Capacity     : Positive     := Unlimited;
      Time_To_Live : Milliseconds := Forever) is abstract tagged limited private;
   --  Has at most Capacity entries: a further one replaces the entry that was put first. An entry
   --  expires when Time_To_Live has passed since it was put, and is then no longer found.
   --
   --  Any number of tasks may call the subprograms at the same time. Each call takes effect at one
   --  moment between its start and its end. Concurrent puts lose no entry.

   procedure Get
     (Self     : in out Cache;
      Key      : Key_Type;
      Element  : in out Element_Type;
      Is_Found : out Boolean) is abstract;
   --  Gets the element of a key.
   --  @param Self the cache
   --  @param Key the key
   --  @param Element a copy of the element; unchanged if there is none
   --  @param Is_Found True if there is an element

   procedure Put (Self : in out Cache; Key : Key_Type; Element : Element_Type) is abstract;
   --  Adds an entry, or replaces the one with that key.
   --  @param Self the cache
   --  @param Key the key
   --  @param Element the element

   procedure Remove (Self : in out Cache; Key : Key_Type) is abstract;
   --  Removes an entry, if there is one with that key.
   --  @param Self the cache
   --  @param Key the key

   procedure Clear (Self : in out Cache) is abstract;
   --  Removes all entries.
   --  @param Self the cache

   procedure Remove_Expired (Self : in out Cache) is null;
   --  Removes expired entries, and frees memory that no task uses any longer. Each Put does so,
   --  too: call this if nothing is put for a long time.
   --  @param Self the cache

   function Length (Self : in out Cache) return Natural is abstract;
   --  @param Self the cache
   --  @return the number of entries, including expired ones that have not been removed yet

   Load_Timeout : exception;

   No_Timeout : constant Duration := Duration'Last;

   function Get_Or_Load
     (Self    : in out Cache;
      Key     : Key_Type;
      Load    : not null access function (Key : Key_Type) return Element_Type;
      Timeout : Duration := No_Timeout) return Element_Type;
   --  Gets the element of a key. If there is none, calls Load and puts its result. If multiple
   --  tasks miss a key at the same time, one of them calls Load, and the others wait for its result
   --  or its exception. If the loading task is aborted, another one loads. Tasks that use other
   --  keys do not wait. The next call after an exception loads again.
   --
   --  After a Put or Remove of the key, or a Clear, later calls do not use a load that began
   --  before: its result may be older than the change. It is not put, and only the tasks that
   --  already wait for it get it, unless the cache has another element by then, which they get
   --  instead.
   --  @param Self the cache
   --  @param Key the key
   --  @param Load loads the element
   --  @param Timeout the maximum time in seconds to wait for another task's load. It does not limit
   --  a Load that this task calls.
   --  @return the element
   --  @exception Load_Timeout another task has not loaded the element in time
   --  @exception Program_Error Load asks for the key that it loads, directly or through other keys,
   --  caches and tasks that wait for each other

private

   package Tables is new Appserver.Cache_Tables (Key_Type, Element_Type, Hash, "=");

   use Ada.Exceptions;
   use Ada.Task_Identification;
   use type Ada.Containers.Hash_Type;
   use type Tables.Buckets_Access;
   use type Tables.Node_Access;

   -----------
   -- Loads --
   -----------

   type Load_Outcome is (Abandoned, Loaded, Failed);

   protected type Result is
      procedure Set (To : Load_Outcome);
      entry Wait (Final : out Load_Outcome);
   private
      Is_Set  : Boolean := False;
      Outcome : Load_Outcome := Abandoned;
   end Result;

   type Load_Number is mod 2 ** 64;

   type Pending_Load is limited record
      Key       : Key_Type;
      Number    : Load_Number := 0;
      --  Numbers the loads of the cache, from 1; set when the load is listed
      Loader    : Task_Id := Current_Task;
      Is_Fresh  : Boolean := True with Atomic;
      --  False once the key was put or removed: the result may be older than that change
      Has_Ended : aliased Load_Waits.Atomic_Flag := Load_Waits.False;
      Result    : Caches.Result;
      Element   : Element_Type;
      Failure   : Exception_Occurrence;
      --  Written by the loading task before it sets the result, read by others after that
   end record;

   package Load_References is new Appserver.References (Pending_Load);

   type Participant;
   type Participant_Access is access all Participant;

   Chain_Count : constant := 64;

   type Chain_List is array (Ada.Containers.Hash_Type range 0 .. Chain_Count - 1)
     of Participant_Access;

   --  The loads in progress, by the hashes of their keys. Callers compare the keys themselves,
   --  outside of the protected actions: they go through the loads with the same hash in the order
   --  of their numbers. Other must be null before the call.

   protected type Listed_Loads is

      procedure Join
        (Caller : not null Participant_Access;
         After  : Load_Number;
         Other  : in out Load_References.Reference);
      --  Lists Caller as the loading task, unless there are fresh loads with its hash and numbers
      --  greater than After: then Other is the first of these

      procedure Leave (Caller : not null Participant_Access);

      procedure Find
        (Hash  : Ada.Containers.Hash_Type;
         After : Load_Number;
         Other : in out Load_References.Reference);
      --  Other is the first load with Hash and a number greater than After, or null

      function Latest return Load_Number;
      --  The number of the latest load

      procedure Forget_All (Was_Loading : out Boolean);
      --  Marks all loads in progress as outdated

   private
      Chains : Chain_List;
      Count  : Natural := 0;
      Last   : Load_Number := 0;
   end Listed_Loads;

   type Atomic_Count is mod 2 ** 32 with Atomic;

   type Load_List is limited record
      Callers : aliased Atomic_Count := 0;
      --  The number of tasks that load or wait. Without them, there is nothing to forget.
      Listed  : Listed_Loads;
   end record;

   type Participant (List : not null access Load_List) is
     new Ada.Finalization.Limited_Controlled with record
      Hash    : Ada.Containers.Hash_Type;
      Load    : Load_References.Reference;
      Loads   : Boolean := False;
      --  True while it is in the list
      Outcome : Load_Outcome := Abandoned;
      Next    : Participant_Access := null;
   end record;
   --  When the loading task leaves its scope, for any reason, the waiting tasks go on

   overriding procedure Initialize (Self : in out Participant);
   overriding procedure Finalize (Self : in out Participant);

   -----------
   -- Cache --
   -----------

   type Cache
     (Capacity     : Positive     := Unlimited;
      Time_To_Live : Milliseconds := Forever) is abstract tagged limited
   record
      Loads : aliased Load_List;
   end record;

   --  Put, Remove and Clear of each kind call these before they change the table. So a task that
   --  is about to put a loaded element sees that its load is outdated, or sees their change.

   procedure Forget_Load (Self : in out Cache'Class; Key : Key_Type; Was_Loading : out Boolean);
   procedure Forget_Load (Self : in out Cache'Class; Key : Key_Type);
   procedure Forget_Loads (Self : in out Cache'Class; Was_Loading : out Boolean);

   procedure Put_Loaded
     (Self    : in out Cache;
      Key     : Key_Type;
      Element : Element_Type;
      Load    : not null access constant Pending_Load;
      Is_Put  : out Boolean);
   --  Puts the element, unless Load is outdated or Key has an element when the table changes

   function Is_Valid (Node : Tables.Node_Access) return Boolean with Inline;
   --  True if Node is neither null nor expired

   ------------
   -- Change --
   ------------

   type Change_Kind is (Put, Remove, Remove_Expired, Clear);

   type Change_Step is (Search, Allocate, Finish);
   --  The next step: a search for the key, the allocation of buckets, or nothing

   type Change (Kind : Change_Kind) is new Ada.Finalization.Limited_Controlled with record
      Step    : Change_Step := Search;
      Found   : Tables.Search;
      Node    : Tables.Node_Access := null;
      --  To be put; null once it is in the table
      Load    : access constant Pending_Load := null;
      --  The node is put only if this load is fresh and the key has no element
      Lacking : Ada.Containers.Hash_Type := 0;
      Larger  : Tables.Buckets_Access := null;
      --  The number of buckets to be allocated, and these buckets until they are in the table
      Removed : Tables.Garbage;
      --  To be freed
   end record;
   --  Its finalization frees what it still has at the end of a write, also after an exception

   overriding procedure Finalize (Self : in out Change);

   procedure Start (Change : in out Caches.Change'Class; Key : Key_Type);

   procedure Start
     (Change       : in out Caches.Change'Class;
      Key          : Key_Type;
      Element      : Element_Type;
      Time_To_Live : Milliseconds);
   --  With a node

   procedure Apply
     (Change      : in out Caches.Change'Class;
      Table       : in out Tables.Table;
      Capacity    : Positive;
      Removed     : in out Tables.Garbage;
      May_Replace : Boolean := True);
   --  Changes the table, unless Change.Step says afterwards what has to come first. One task at a
   --  time calls this. It calls no code of the application and does not use the heap. May_Replace:
   --  no reader still uses buckets that were replaced earlier.

   procedure Perform
     (Change   : in out Caches.Change'Class;
      Key      : Key_Type;
      Table    : in out Tables.Table;
      Capacity : Positive);
   --  Changes a table that no other task sees

   -----------------
   -- Table cache --
   -----------------

   type Table_Cache is abstract new Cache with null record;
   --  A cache with one table, which its writers change in turn. They search for the key and use the
   --  heap before, outside of the protected action that changes the table.

   procedure Search
     (Self : in out Table_Cache; Key : Key_Type; Found : in out Tables.Search) is abstract;
   --  Other tasks may change the table in the meantime

   procedure Apply (Self : in out Table_Cache; Change : in out Caches.Change'Class) is abstract;
   --  Applies Change to the table of the cache, in a protected action

   overriding procedure Put (Self : in out Table_Cache; Key : Key_Type; Element : Element_Type);
   overriding procedure Remove (Self : in out Table_Cache; Key : Key_Type);
   overriding procedure Clear (Self : in out Table_Cache);
   overriding procedure Remove_Expired (Self : in out Table_Cache);

   overriding procedure Put_Loaded
     (Self    : in out Table_Cache;
      Key     : Key_Type;
      Element : Element_Type;
      Load    : not null access constant Pending_Load;
      Is_Put  : out Boolean);

end Appserver.Caches;
