--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  A hash table, which one task at a time changes while any number of other tasks read it, and the
--  order in which its entries are evicted and expire. A change does not free a node that other
--  tasks may still see, but returns the node to the caller.
--
--  A change has two steps. The first step, a search, calls Hash and "=" while other tasks may
--  change the table. The second step runs under the caller's lock: it calls no application code,
--  does not use the heap, and checks that the result of the search is still valid.

pragma Ada_2022;

with Ada.Containers;
with Ada.Real_Time;
with Interfaces;

private generic
   type Key_Type is private;
   type Element_Type is private;
   with function Hash (Key : Key_Type) return Ada.Containers.Hash_Type;
   with function "=" (Left, Right : Key_Type) return Boolean is <>;
package Appserver.Cache_Tables is

   pragma Assertion_Policy (Pre => Check);

   use Ada.Containers;

   function Mixed_Hash (Key : Key_Type) return Hash_Type with Inline;
   --  Returns Hash (Key) with its bits mixed, so that any of them can select a bucket

   type Change_Number is mod 2 ** 64 with Size => 64;
   --  The sequence number of a change to a table, starting at 1

   ----------
   -- Time --
   ----------

   type Instant is range 0 .. 2 ** 63 - 1 with Size => 64;
   --  Nanoseconds since the epoch of Ada.Real_Time

   Never : constant Instant := Instant'Last;

   function To_Instant (Time : Ada.Real_Time.Time) return Instant;

   type Shared_Instant is mod 2 ** 64 with Size => 64, Atomic;
   --  An instant that concurrent readers update

   ----------
   -- Node --
   ----------

   type Node;
   type Node_Access is access Node;

   type Side is mod 2;
   type Next_Nodes is array (Side) of Node_Access with Atomic_Components;
   pragma Suppress_Initialization (Next_Nodes);
   --  Suppressed because initial values would cost atomic stores. Each component is written before
   --  it is read.

   type User_Count is mod 2 ** 32 with Size => 32, Atomic;

   type Read_Count is mod 2 ** 8 with Size => 8, Volatile;

   Max_Reads : constant Read_Count := 3;

   type Queue_Kind is (Small, Main, Weightless);
   --  The eviction queues. Nodes with weight 0 are in Weightless and are never evicted, since that
   --  would free no capacity.

   type Removal_Cause is (Explicit, Replaced, Expired, Size);

   type Schedule_Number is range 0 .. 65;
   Unscheduled : constant Schedule_Number := 64;
   In_Order    : constant Schedule_Number := 65;

   type Node (Is_Timed : Boolean) is limited record
      Key          : Key_Type;
      Element      : Element_Type;
      Hash         : Hash_Type;
      Users        : aliased User_Count;
      --  The number of references: one from the table, and one from each task that has pinned the
      --  node
      Next         : Next_Nodes;
      --  The next nodes in the chains of two buckets, one in the current array and one in the array
      --  that it replaces. The component Chains of an array selects the index. A node is linked
      --  after all other components that readers see have been written.
      Reads        : Read_Count := 0;
      --  The number of reads since the node was last considered for eviction, at most Max_Reads.
      --  Readers increment it without synchronization, so an increment may be lost.
      Queue        : Queue_Kind := Small;
      Cause        : Removal_Cause := Explicit;
      Weight       : Natural := 1;
      Number       : Change_Number;
      --  The number of the change that added this node to the table
      Older, Newer : Node_Access;
      --  The neighbors in the queue. After the node has been removed, Newer is the next node to
      --  free, and Older is the next node to report.
      case Is_Timed is
         when True =>
            Deadline       : Instant := Never;
            --  The time at which the node expires, regardless of reads
            Idle           : Instant := 0;
            --  The time in nanoseconds from the last read until the node expires; 0 if reads do not
            --  affect the expiration
            Accessed       : aliased Shared_Instant := 0;
            Refresh_Due    : aliased Shared_Instant := Shared_Instant (Never);
            Schedule       : Schedule_Number := Unscheduled;
            --  The list that contains the node. Earlier and Later are the node's neighbors in this
            --  list. The caller sets In_Order if nodes expire in the order in which they are put.
            Earlier, Later : Node_Access;
            Scheduled      : Instant := Never;
         when False =>
            null;
      end case;
   end record;

   function New_Node
     (Key      : Key_Type;
      Element  : Element_Type;
      Hash     : Hash_Type;
      Is_Timed : Boolean) return not null Node_Access;
   --  Creates a node. Hash is the mixed hash of Key.

   function Expiry (Node : not null Node_Access) return Instant with Pre => Node.Is_Timed;

   function Is_Expired (Node : not null Node_Access; Now : Instant) return Boolean is
     (Node.Is_Timed and then Expiry (Node) <= Now);

   function Cause_Of
     (Node : Node_Access; Now : Instant; Otherwise : Removal_Cause) return Removal_Cause is
     (if Node /= null and then Is_Expired (Node, Now) then Expired else Otherwise);
   --  Returns the cause to report when the node is removed: Expired if the node has expired at Now,
   --  and Otherwise in all other cases

   procedure Count_Read (Node : not null Node_Access) with Inline;
   --  Counts a read of the node. Once the count has reached Max_Reads, this procedure no longer
   --  writes to the node.

   procedure Set_Accessed (Node : not null Node_Access; Now : Instant)
     with Inline, Pre => Node.Is_Timed;

   procedure Take_Refresh
     (Node : not null Node_Access; Now, Interval : Instant; Is_Taken : out Boolean)
     with Pre => Node.Is_Timed;
   --  Assigns a due refresh to one task: if multiple tasks call this procedure, it sets Is_Taken to
   --  True for only one of these tasks. The next refresh is due after Interval.

   procedure Pin (Node : not null Node_Access);
   --  Prevents a node from being freed until Release. The node must be in the table.

   procedure Release (Node : in out Node_Access)
     with Post => Node = null;
   --  Unpins the node, and frees it if this was the last reference. Node may be null.

   -------------
   -- Buckets --
   -------------

   type Buckets;
   type Buckets_Access is access Buckets;

   type Bucket_Array is array (Hash_Type range <>) of Node_Access with Atomic_Components;

   type Buckets (Last : Hash_Type) is limited record
      Chains       : Side := 0;
      Below        : Buckets_Access := null;
      --  The next smaller array of the same table. A node is in only one of a table's arrays.
      Next_Garbage : Buckets_Access := null;
      First        : Bucket_Array (0 .. Last);
   end record;
   --  The length of First is a power of two

   function New_Buckets (Count : Hash_Type) return not null Buckets_Access;
   procedure Free (Self : in out Buckets_Access);

   -------------
   -- Garbage --
   -------------

   type Garbage is limited record
      Nodes  : Node_Access := null;
      --  The first node of a list, in which Newer is the next node. Readers do not follow Newer.
      Arrays : Buckets_Access := null;
   end record;

   procedure Free (Self : in out Garbage);
   --  Frees the nodes and arrays. Pinned nodes are freed by their last Release.

   procedure Move (From, To : in out Garbage);

   procedure Move_Some (From, To : in out Garbage; Nodes : Natural);
   --  Moves all arrays and at most Nodes nodes from From to To

   function Is_Empty (Self : Garbage) return Boolean;

   ------------
   -- Report --
   ------------

   type Report is limited record
      Is_Enabled  : Boolean := False;
      --  True if removals are reported. If False, the list stays empty. The caller sets this
      --  component.
      First, Last : Node_Access := null;
      --  The first and the last node in the list of removed nodes. The nodes are pinned.
   end record;

   procedure Take_First (Self : in out Report; Node : out Node_Access);
   --  Removes the first node from the report, and returns it in Node; null if the report is empty.
   --  The caller must release the node.

   -----------
   -- Order --
   -----------

   --  The order of eviction is S3-FIFO (Yang et al., "FIFO queues are all you need for cache
   --  eviction", SOSP 2023). New nodes enter a small queue, which holds a tenth of the total
   --  weight. A node that is read more than once in the small queue moves to the main queue. Any
   --  other node is soon evicted, and its key is remembered for a while: if the key is put again
   --  during this time, the new node enters the main queue directly. A node at the end of the main
   --  queue is put back at the start once for each of up to three reads. So a scan of many keys
   --  does not displace frequently read entries, and a read only increments a counter in the node.
   --
   --  Nodes that expire in the order in which they are put form a list. All other nodes are in a
   --  radix heap (Ahuja, Mehlhorn, Orlin and Tarjan, "Faster algorithms for the shortest path
   --  problem", Journal of the ACM 37 (2), 1990), which has one list for each bit of a time. A node
   --  is in the list of the highest bit in which its time differs from the heap's time. The heap's
   --  time never decreases. Adding and removing a node take constant time, and a node moves to a
   --  lower list at most once for each bit.

   type Ghosts (<>) is limited private;
   type Ghosts_Access is access Ghosts;

   type Total_Weight is range 0 .. 2 ** 63 - 1 with Size => 64;

   type Order is limited private;
   --  The order in which nodes are evicted, and the order in which they expire. Only one task at a
   --  time may call the following subprograms, except for Count, Weight and Lacking_Ghosts.

   function Count (Self : Order) return Natural;
   function Weight (Self : Order) return Total_Weight;

   procedure Add
     (Self : in out Order; Node : not null Node_Access; Replaced : Node_Access := null);
   --  Adds a node. Replaced is the removed node with the same key, or null.

   procedure Remove (Self : in out Order; Node : not null Node_Access);

   procedure Clear (Self : in out Order; First : out Node_Access);
   --  Removes all nodes. Sets First to the first node of a list of the removed nodes, in which
   --  Newer is the next node.

   function Is_Full (Self : Order; Weight : Natural; Capacity : Positive) return Boolean;
   --  Returns True if a node must be evicted before a node of weight Weight is added

   procedure Find_Victim
     (Self : in out Order; Capacity : Positive; Victim : out not null Node_Access);
   --  Finds the node to evict next

   procedure Remember (Self : in out Order; Victim : not null Node_Access);
   --  Records the key of an evicted node from the small queue. If the key is put again soon, its
   --  new node enters the main queue. Must be called for each evicted node.

   procedure Find_Expired (Self : in out Order; Now : Instant; Found : out Node_Access);
   --  Finds an expired node. Sets Found to null if there is none.

   function Lacking_Ghosts (Self : Order; Capacity : Positive) return Natural;
   --  Returns the size of the array to pass to Exchange, or 0 if the current array is large enough

   function New_Ghosts (Size : Positive) return not null Ghosts_Access;
   procedure Exchange (Self : in out Order; Ghosts : in out Ghosts_Access);
   procedure Free (Ghosts : in out Ghosts_Access);
   procedure Free_Ghosts (Self : in out Order);

   -----------
   -- Table --
   -----------

   type Table is limited private;

   function Find (Self : Table; Key : Key_Type) return Node_Access with Inline;
   --  Returns the node of the key, or null if the key is not in the table

   function Length (Self : Table) return Natural;

   function Weight (Self : Table) return Total_Weight;

   ------------
   -- Search --
   ------------

   type Search is limited record
      Hash  : Hash_Type := 0;
      --  The mixed hash of the key, set by the caller
      Node  : Node_Access := null;
      --  The node of the key, or null if the key was not found. Must not be dereferenced: the node
      --  may have been freed since the search.
      After : Change_Number := 0;
      --  Nodes whose Number is at most After are known to have other keys
      Seen  : Change_Number := 0;
      --  The number of the latest change that the search is guaranteed to have seen
   end record;

   procedure Find (Self : Table; Key : Key_Type; Found : in out Search);
   --  Searches for a key. Other tasks may change the table during the search, but must not free a
   --  node that this task may see.

   procedure Find_Next (Self : Table; Found : in out Search);
   --  Sets Found.Node to the first node with Found.Hash that was linked after Found.After, or to
   --  null if there is none. Calls neither Hash nor "=". The table must not change during the call.

   -------------
   -- Changes --
   -------------

   --  Subprograms that change a table. Only one task at a time may call them. They call no
   --  application code, do not use the heap, and raise no exceptions.

   procedure Update (Self : Table; Found : in out Search; Is_Current : out Boolean);
   --  Checks the result of a search. Sets Found.Node to null if the node has been removed since the
   --  search. Sets Is_Current to False if a node with Found.Hash has been linked since the search:
   --  that node may have the key, so the caller must search again.

   function Lacking_Buckets
     (Self : Table; Found : Search; Capacity : Positive; May_Replace : Boolean) return Hash_Type;
   --  Returns the size of the array of buckets to pass to Put, or 0 if Put does not need one

   function Has_Buckets (Self : Table) return Boolean;

   function Lacking_Ghosts (Self : Table; Capacity : Positive) return Natural;
   procedure Exchange (Self : in out Table; Ghosts : in out Ghosts_Access);
   procedure Free_Ghosts (Self : in out Table);
   --  Lacking_Ghosts, Exchange and Free_Ghosts call the subprograms of the table's Order

   procedure Put
     (Self        : in out Table;
      Node        : in out Node_Access;
      Found       : Search;
      Capacity    : Positive;
      May_Replace : Boolean;
      Larger      : in out Buckets_Access;
      Removed     : in out Garbage;
      Report      : in out Cache_Tables.Report)
     with Pre  => (Has_Buckets (Self) or else Larger /= null) and then Node.Weight <= Capacity,
          Post => Node = null;
   --  Links Node, which replaces Found.Node. Evicts other nodes if the total weight would exceed
   --  Capacity. If the table benefits from Larger, Put takes ownership of this array and sets
   --  Larger to null. If May_Replace is True, Larger replaces the table's arrays, and Put moves the
   --  old arrays to Removed. Until no reader uses the old arrays, the caller must pass False. If
   --  May_Replace is False, Larger is added to the table's arrays.

   procedure Remove
     (Self    : in out Table;
      Found   : Search;
      Cause   : Removal_Cause;
      Removed : in out Garbage;
      Report  : in out Cache_Tables.Report);

   procedure Remove_Expired
     (Self    : in out Table;
      Now     : Instant;
      Removed : in out Garbage;
      Report  : in out Cache_Tables.Report);

   procedure Clear
     (Self    : in out Table;
      Now     : Instant;
      Removed : in out Garbage;
      Report  : in out Cache_Tables.Report);

   procedure Add
     (Report : in out Cache_Tables.Report; Node : not null Node_Access; Cause : Removal_Cause);
   --  Pins a node and adds it to the report, if the report is enabled

   procedure Add (Self : in out Garbage; Node : not null Node_Access);

private

   type Atomic_Number is new Change_Number with Atomic;

   -----------
   -- Order --
   -----------

   type Eviction_Number is mod 2 ** 32;

   type Ghost is record
      Hash   : Hash_Type       := 0;
      Number : Eviction_Number := 0;
   end record;
   --  The hash of an evicted key, and the number of the eviction

   type Ghost_Set is array (1 .. 4) of Ghost;
   --  Evicted keys, starting with the latest. A new key replaces the oldest key of a full set.

   type Ghost_Array is array (Hash_Type range <>) of Ghost_Set;

   type Ghosts (Last : Hash_Type) is limited record
      List : Ghost_Array (0 .. Last);
   end record;
   --  Last + 1 is a power of two

   type Queue is record
      Oldest, Newest : Node_Access := null;
   end record;

   type Queue_List is array (Queue_Kind) of Queue;
   type Schedule_List is array (Schedule_Number) of Queue;

   type Atomic_Weight is range 0 .. 2 ** 63 - 1 with Size => 64, Atomic;
   --  Not derived from Total_Weight, because Ada 2012 programs could then not instantiate this
   --  package

   type Order is limited record
      Queues       : Queue_List;
      Count        : Natural := 0 with Atomic;
      Weight       : Atomic_Weight := 0;
      Small_Weight : Total_Weight := 0;
      Ghosts       : Ghosts_Access := null;
      Sets         : Natural := 0 with Atomic;
      --  The number of sets in Ghosts, which another task may replace and free
      Evictions    : Eviction_Number := 0;
      Schedules    : Schedule_List;
      --  The lists of nodes that expire. Lists 0 .. 63 are the heap. The element Unscheduled is not
      --  used.
      Heap_Time    : Instant := 0;
      Used         : Interfaces.Unsigned_64 := 0;
      --  The lists of the heap that may contain nodes: bit n is set for list n
   end record;

   function Count (Self : Order) return Natural is (Self.Count);

   function Weight (Self : Order) return Total_Weight is (Total_Weight (Self.Weight));

   type Table is limited record
      Buckets : Buckets_Access := null with Atomic;
      Changes : Atomic_Number := 0;
      --  The number of the latest change
      Order   : Cache_Tables.Order;
   end record;

   function Length (Self : Table) return Natural is (Self.Order.Count);

   function Weight (Self : Table) return Total_Weight is (Weight (Self.Order));

   function Has_Buckets (Self : Table) return Boolean is (Self.Buckets /= null);

end Appserver.Cache_Tables;
