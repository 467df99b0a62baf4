--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Concurrent maps that are read often and written rarely. There are three implementations, which
--  are generic child packages without parameters. They are interchangeable:
--
--     Wait_Free       readers never wait, and write only to their own slot and a counter
--     Copy_On_Write   readers never wait; each write copies the path to its entry
--     Locked          a protected object
--
--     package Prices is new Appserver.Caches (Article, Money, Hash);
--     package Price_Caches is new Prices.Wait_Free;
--     Cache : Price_Caches.Cache (Capacity => 10_000, Time_To_Live => 60_000);
--     …
--     Price := Cache.Get_Or_Load (Article_7, From_Database'Access);

pragma Ada_2022;

with Ada.Containers;
with Ada.Real_Time;

private with Ada.Exceptions;
private with Ada.Finalization;
private with Ada.Task_Identification;
private with Appserver.Cache_Tables;
private with Appserver.Counters.Atomic;
private with Appserver.Counters.Striped;
private with Appserver.Load_Waits;
private with Appserver.References;

generic
   type Key_Type is private;
   type Element_Type is private;
   with function Hash (Key : Key_Type) return Ada.Containers.Hash_Type;
   with function "=" (Left, Right : Key_Type) return Boolean is <>;

   --  Hash, "=", and the copying and finalization of keys and elements must not call the cache.
   --  They may run in multiple tasks concurrently. The cache calls them neither in a protected
   --  action nor while it holds a lock. If such a call blocks, takes a long time or raises an
   --  exception, this affects only the calling task.
   --
   --  For wait-free caches, finalization of keys and elements may also run in a background task of
   --  this library. The finalization of a cache waits until the background task has finalized the
   --  cache's entries. If the finalization of an entry never returns, the finalization of its cache
   --  does not return either, and other caches free memory only in later writes.

package Appserver.Caches is

   pragma Assertion_Policy (Pre => Check);

   Unlimited : constant Positive := Positive'Last;

   type Milliseconds is range 1 .. 2 ** 31 - 1;
   Forever : constant Milliseconds := Milliseconds'Last;

   type Cache
     (Capacity     : Positive     := Unlimited;
      Time_To_Live : Milliseconds := Forever) is abstract tagged limited private;
   --  A map with a maximum total weight of Capacity. An entry weighs 1, unless Configure sets a
   --  Weigher. When the cache is full, entries that are rarely read are evicted, by S3-FIFO (Yang
   --  et al., "FIFO queues are all you need for cache eviction", SOSP 2023). An entry expires
   --  Time_To_Live milliseconds after it was put, and is then no longer found.
   --
   --  Any number of tasks may call the subprograms concurrently. Each call takes effect atomically
   --  at some moment between its start and its end. Concurrent puts do not lose entries.

   -------------
   -- Options --
   -------------

   type Weight_Function is access function
     (Key : Key_Type; Element : Element_Type) return Natural;
   --  Returns the weight of an entry. An entry that weighs more than Capacity is not stored, and an
   --  entry that weighs 0 is not evicted. Called once for each write.

   type Time_To_Live_Function is access function
     (Key : Key_Type; Element : Element_Type) return Milliseconds;
   --  Returns the time to live of an entry; Forever for the cache's own Time_To_Live

   type Removal_Cause is
     (Explicit,  --  removed by Remove or Clear
      Replaced,  --  replaced by a new element of the same key
      Expired,
      Size);     --  evicted because the cache was full, or not stored because it was too heavy

   type Removal_Listener is access procedure
     (Key : Key_Type; Element : Element_Type; Cause : Removal_Cause);
   --  Receives each removed element once. The task whose write removed the element calls this
   --  procedure, after the change and outside of all locks. Other tasks may still be copying the
   --  element. Exceptions are ignored. Expired entries are reported when the next write removes
   --  them. Aborts are deferred during the call. Not called for the entries of a cache that is
   --  finalized.

   type Clock_Function is access function return Ada.Real_Time.Time;

   type Cache_Options is record
      Expire_After_Access : Milliseconds := Forever;
      --  The time from the last read or write of an entry until it expires. If this is set, each
      --  read also reads the clock and stores the time.
      Refresh_After_Write : Milliseconds := Forever;
      --  The time from the write of an entry until Get_Or_Load loads it again. The first caller
      --  after that time loads the element; other callers get the current element without waiting.
      --  If the load raises an exception, the current element stays in the cache, and is due for
      --  the next refresh after the same time.
      Weigher             : Weight_Function := null;
      --  A function that returns the weight of each entry; null if each entry weighs 1
      Time_To_Live_Of     : Time_To_Live_Function := null;
      --  A function that returns the time to live of each entry, including loaded entries; null if
      --  the cache's Time_To_Live applies to all entries
      Listener            : Removal_Listener := null;
      Records_Statistics  : Boolean := False;
      --  True to count hits, misses and other events. Each read then also adds to a striped
      --  counter.
      Clock               : Clock_Function := null;
      --  The clock, which tests can replace; null for Ada.Real_Time.Clock. Called outside of
      --  protected actions.
   end record;

   procedure Configure (Self : in out Cache'Class; Options : Cache_Options);
   --  Sets the options. Must be called at most once, before any other subprogram of the cache.
   --  @param Self the cache
   --  @param Options the options
   --  @exception Misuse_Error the cache has entries, or was configured before

   type Event_Count is range 0 .. 2 ** 63 - 1;

   type Cache_Statistics is record
      Hits, Misses             : Event_Count := 0;
      --  The numbers of reads that found an entry (Hits), and of reads that found no entry or an
      --  expired entry (Misses)
      Loads, Load_Failures     : Event_Count := 0;
      --  The numbers of all calls to Load, including refreshes (Loads), and of calls that raised an
      --  exception (Load_Failures)
      Evictions                : Event_Count := 0;
      --  The number of entries that were removed because the cache was full
      Evicted_Weight           : Event_Count := 0;
      Expirations              : Event_Count := 0;
      --  The number of entries that were removed because they had expired
   end record;

   function Statistics (Self : Cache'Class) return Cache_Statistics;
   --  Returns the statistics. Changes during the call may or may not be included.
   --  @param Self the cache
   --  @return the counts since Configure; all are 0 without Records_Statistics

   -----------
   -- Calls --
   -----------

   procedure Get
     (Self     : in out Cache;
      Key      : Key_Type;
      Element  : in out Element_Type;
      Is_Found : out Boolean) is abstract;
   --  Looks up a key.
   --  @param Self the cache
   --  @param Key the key
   --  @param Element set to a copy of the key's element; unchanged if the key has no entry
   --  @param Is_Found set to True if the key has an entry

   procedure Put (Self : in out Cache; Key : Key_Type; Element : Element_Type) is abstract;
   --  Adds an entry, or replaces the existing entry of the key.
   --  @param Self the cache
   --  @param Key the key
   --  @param Element the element

   procedure Put
     (Self         : in out Cache'Class;
      Key          : Key_Type;
      Element      : Element_Type;
      Time_To_Live : Milliseconds);
   --  Puts an entry with its own time to live.
   --  @param Self the cache
   --  @param Key the key
   --  @param Element the element
   --  @param Time_To_Live the time until the entry expires, regardless of reads

   procedure Remove (Self : in out Cache; Key : Key_Type) is abstract;
   --  Removes the entry of a key, if there is one.
   --  @param Self the cache
   --  @param Key the key

   procedure Clear (Self : in out Cache) is abstract;
   --  Removes all entries.
   --  @param Self the cache

   procedure Remove_Expired (Self : in out Cache) is null;
   --  Removes expired entries, and frees memory that no task uses any longer. Put also does this,
   --  so Remove_Expired is needed only if Put is not called for a long time.
   --  @param Self the cache

   function Length (Self : in out Cache) return Natural is abstract;
   --  @param Self the cache
   --  @return the number of entries, including expired ones that have not been removed yet

   function Weight (Self : in out Cache) return Natural is (Cache'Class (Self).Length);
   --  @param Self the cache
   --  @return the total weight of the entries

   Load_Timeout : exception;

   No_Timeout : constant Duration := Duration'Last;

   function Get_Or_Load
     (Self    : in out Cache;
      Key     : Key_Type;
      Load    : not null access function (Key : Key_Type) return Element_Type;
      Timeout : Duration := No_Timeout) return Element_Type;
   --  Returns the element of a key. If the key has no entry, calls Load and puts its result. If
   --  multiple tasks miss the same key concurrently, one of these tasks calls Load. The other tasks
   --  wait, and then return the result of the load or raise its exception. If the loading task is
   --  aborted, a waiting task calls Load instead. Tasks that use other keys do not wait. After an
   --  exception, the next call loads again. With Refresh_After_Write, an element that is due for a
   --  refresh is loaded again.
   --
   --  A Put or Remove of the key, or a Clear, makes a load in progress outdated, since its result
   --  may be older than the change. Calls that begin later do not use this load, and its result is
   --  not put in the cache. Tasks that were already waiting for this load return its result, unless
   --  the key has an entry by then. In that case, they return the element of the entry.
   --  @param Self the cache
   --  @param Key the key
   --  @param Load loads the element
   --  @param Timeout the maximum time in seconds to wait for another task's load. It does not limit
   --  a Load that this task calls.
   --  @return the element
   --  @exception Load_Timeout another task did not load the element within Timeout
   --  @exception Program_Error Load waits for its own result: it requests the key that it is
   --  loading, directly or through a cycle of tasks that wait for each other's loads

private

   package Tables is new Appserver.Cache_Tables (Key_Type, Element_Type, Hash, "=");

   use Ada.Exceptions;
   use Ada.Task_Identification;
   use type Ada.Containers.Hash_Type;
   use type Tables.Buckets_Access;
   use type Tables.Ghosts_Access;
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
      --  The sequence number of the load in its cache, starting at 1; set when the load is listed
      Loader    : Task_Id := Current_Task;
      Replaces  : Boolean := False;
      --  True for a refresh, which replaces the current element
      Is_Fresh  : Boolean := True with Atomic;
      --  False once another call has put or removed the key, since the result may be older than
      --  that change
      Has_Ended : aliased Load_Waits.Atomic_Flag := Load_Waits.False;
      Result    : Caches.Result;
      Element   : Element_Type;
      Failure   : Exception_Occurrence;
      --  The loading task writes Element and Failure before it sets the result. Other tasks read
      --  Element and Failure after the result has been set.
   end record;

   package Load_References is new Appserver.References (Pending_Load);

   type Participant;
   type Participant_Access is access all Participant;

   Chain_Count : constant := 64;

   type Chain_List is array (Ada.Containers.Hash_Type range 0 .. Chain_Count - 1)
     of Participant_Access;

   --  The loads in progress, indexed by the hashes of their keys. Callers compare keys outside of
   --  the protected actions: a caller visits the loads with the key's hash in ascending order of
   --  their numbers. The parameter Other must be null before a call.

   protected type Listed_Loads is

      procedure Join
        (Caller : not null Participant_Access;
         After  : Load_Number;
         Other  : in out Load_References.Reference);
      --  Lists Caller as the loading task. If a fresh load with the same hash and a number greater
      --  than After exists, sets Other to the first such load instead.

      procedure Leave (Caller : not null Participant_Access);

      procedure Find
        (Hash  : Ada.Containers.Hash_Type;
         After : Load_Number;
         Other : in out Load_References.Reference);
      --  Sets Other to the first load whose key has the hash Hash and whose number is greater than
      --  After; leaves Other null if there is none

      function Latest return Load_Number;
      --  Returns the number of the latest load

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
      --  The number of tasks that are loading or waiting. If it is 0, writers need not mark any
      --  load as outdated.
      Listed  : Listed_Loads;
   end record;

   type Participant (List : not null access Load_List) is
     new Ada.Finalization.Limited_Controlled with record
      Hash    : Ada.Containers.Hash_Type;
      Load    : Load_References.Reference;
      Loads   : Boolean := False;
      --  True while the participant is in the list
      Outcome : Load_Outcome := Abandoned;
      Next    : Participant_Access := null;
   end record;
   --  A task that loads or waits. The finalization of the loading task's participant wakes the
   --  waiting tasks, even after an exception or an abort.

   overriding procedure Initialize (Self : in out Participant);
   overriding procedure Finalize (Self : in out Participant);

   -----------
   -- Cache --
   -----------

   type Settings is limited record
      Options             : Cache_Options;
      Hits, Misses        : Appserver.Counters.Striped.Counter;
      Loads, Failures     : Appserver.Counters.Atomic.Counter;
      Evictions, Evicted  : Appserver.Counters.Atomic.Counter;
      Expirations         : Appserver.Counters.Atomic.Counter;
   end record;

   type Settings_Access is access Settings;

   type Owned_Settings is new Ada.Finalization.Limited_Controlled with record
      Settings : Settings_Access := null;
   end record;

   overriding procedure Finalize (Self : in out Owned_Settings);

   type Cache
     (Capacity     : Positive     := Unlimited;
      Time_To_Live : Milliseconds := Forever) is abstract tagged limited
   record
      Loads    : aliased Load_List;
      Is_Plain : Boolean := Capacity = Unlimited and then Time_To_Live = Forever with Atomic;
      --  True if a read only copies the element, without checking times or counting
      Is_Timed : Boolean := Time_To_Live /= Forever with Atomic;
      --  True if new nodes store times
      Owned    : Owned_Settings;
      --  The options and counters; null if the cache has not been configured
   end record;

   use type Tables.Instant;

   function Now (Self : Cache'Class) return Tables.Instant;
   --  Returns the current time, or 0 if no node stores times

   type Read_Mode is (Peek, Read, Read_Or_Refresh);
   --  The effect of a read on the entry. Peek records nothing.

   procedure Look_Up
     (Self     : in out Cache;
      Key      : Key_Type;
      Mode     : Read_Mode;
      Element  : in out Element_Type;
      Is_Found : out Boolean;
      Is_Due   : out Boolean);
   --  Looks up a key like Get, and sets Is_Due to True if this task should refresh the element. The
   --  default implementation calls Get.

   procedure Read_Node
     (Self     : Cache'Class;
      Node     : Tables.Node_Access;
      Mode     : Read_Mode;
      Element  : in out Element_Type;
      Is_Found : out Boolean;
      Is_Due   : out Boolean);
   --  Records a read, and copies the element of Node unless Node is null or has expired. The node
   --  must not be freed during the call.

   procedure Put_Timed
     (Self : in out Cache; Key : Key_Type; Element : Element_Type; Time_To_Live : Milliseconds);
   --  Puts an entry with its own time to live. The default implementation calls Put and ignores
   --  Time_To_Live.

   --  Procedures that mark loads as outdated. Put, Remove and Clear of each implementation call
   --  these procedures before they change the table. So a task that is about to put a loaded
   --  element sees either that its load is outdated, or the change itself.

   procedure Forget_Load (Self : in out Cache'Class; Key : Key_Type; Was_Loading : out Boolean);
   procedure Forget_Load (Self : in out Cache'Class; Key : Key_Type);
   procedure Forget_Loads (Self : in out Cache'Class; Was_Loading : out Boolean);

   procedure Put_Loaded
     (Self    : in out Cache;
      Key     : Key_Type;
      Element : Element_Type;
      Load    : not null access constant Pending_Load;
      Is_Put  : out Boolean);
   --  Puts the element, unless Load is outdated or Key has an entry at the time of the change

   ------------
   -- Change --
   ------------

   type Change_Kind is (Put, Remove, Remove_Expired, Clear);

   type Change_Step is (Search, Allocate, Finish);
   --  The next step of a change: search for the key, allocate memory, or finish

   type Change (Kind : Change_Kind) is new Ada.Finalization.Limited_Controlled with record
      Step    : Change_Step := Search;
      Found   : Tables.Search;
      Now     : Tables.Instant := 0;
      Node    : Tables.Node_Access := null;
      --  The node to put; null once the node is in the table
      Load    : access constant Pending_Load := null;
      --  The load whose result is put; null for any other write. If the load is outdated, the node
      --  is not put. If the key already has an entry, only a refresh puts the node.
      Lacking : Ada.Containers.Hash_Type := 0;
      --  The number of buckets to allocate
      Larger  : Tables.Buckets_Access := null;
      --  The allocated array of buckets; null once the array is in the table
      Lacking_Ghosts : Natural := 0;
      --  The size of the array of evicted keys to allocate
      Ghosts         : Tables.Ghosts_Access := null;
      --  The allocated array of evicted keys; null once the array is in the table
      Is_Replacement : Boolean := False;
      --  True if the existing node is removed because the new node is too heavy to store
      Removed : Tables.Garbage;
      --  Nodes and arrays to free
      Report  : Tables.Report;
      --  Nodes to report to the listener
   end record;
   --  A write in progress. Its finalization frees the remaining nodes and arrays, even after an
   --  exception.

   overriding procedure Finalize (Self : in out Change);

   procedure Start (Change : in out Caches.Change'Class; Self : Cache'Class);
   procedure Start (Change : in out Caches.Change'Class; Self : Cache'Class; Key : Key_Type);

   procedure Start
     (Change       : in out Caches.Change'Class;
      Self         : Cache'Class;
      Key          : Key_Type;
      Element      : Element_Type;
      Time_To_Live : Milliseconds := Forever);
   --  Starts a change that puts a new node. Time_To_Live applies to this node; Forever selects the
   --  default.

   function Is_Too_Heavy (Change : Caches.Change'Class; Capacity : Positive) return Boolean;
   --  Returns True if the new node exceeds Capacity and cannot be stored

   function Is_Overtaken
     (Change : Caches.Change'Class; Present : Tables.Node_Access) return Boolean;
   --  Returns True if the new node must not be put because its load is outdated, or because its key
   --  has an entry that the load does not replace. Present is the current node of the key in the
   --  table, or null.

   procedure Report_Removals (Self : Cache'Class; Change : in out Caches.Change'Class);
   --  Counts the removals, and calls the listener. Must not be called in a protected action.

   procedure Report_Too_Heavy (Self : Cache'Class; Change : Caches.Change'Class);
   --  Reports the new node, which was not stored, to the listener

   procedure Allocate (Change : in out Caches.Change'Class);
   --  Allocates the objects that Change still needs

   procedure Apply
     (Change      : in out Caches.Change'Class;
      Table       : in out Tables.Table;
      Capacity    : Positive;
      Removed     : in out Tables.Garbage;
      May_Replace : Boolean := True);
   --  Changes the table if possible. Otherwise Change.Step is the step that the caller must perform
   --  first. Only one task at a time may call this procedure. It calls no application code and does
   --  not use the heap. May_Replace must be False if a reader may still use buckets that were
   --  replaced earlier.

   procedure Perform
     (Change   : in out Caches.Change'Class;
      Key      : Key_Type;
      Table    : in out Tables.Table;
      Capacity : Positive);
   --  Performs the change on a table that other tasks cannot see

   -----------------
   -- Table cache --
   -----------------

   type Table_Cache is abstract new Cache with null record;
   --  A cache with one table, which only one writer at a time changes. Before a change, the writer
   --  searches for the key and allocates memory, outside of the protected action that changes the
   --  table.

   procedure Search
     (Self : in out Table_Cache; Key : Key_Type; Found : in out Tables.Search) is abstract;
   --  Searches for a key. Other tasks may change the table during the search.

   procedure Apply (Self : in out Table_Cache; Change : in out Caches.Change'Class) is abstract;
   --  Applies Change to the cache's table, in a protected action

   overriding procedure Put (Self : in out Table_Cache; Key : Key_Type; Element : Element_Type);
   overriding procedure Put_Timed
     (Self         : in out Table_Cache;
      Key          : Key_Type;
      Element      : Element_Type;
      Time_To_Live : Milliseconds);
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
