--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  A hash table that one task changes at a time while any number of others read it. A node that
--  other tasks may still see is not freed, but returned to the task that changes the table. The
--  table also links its entries in the order in which they were put.
--
--  A change has two steps. The first step, a search, calls Hash and "=" while other tasks may
--  change the table. The second step runs under the caller's lock: it calls no application code,
--  does not use the heap, and checks that the result of the search is still valid.

pragma Ada_2022;

with Ada.Containers;
with Ada.Real_Time;

private generic
   type Key_Type is private;
   type Element_Type is private;
   with function Hash (Key : Key_Type) return Ada.Containers.Hash_Type;
   with function "=" (Left, Right : Key_Type) return Boolean is <>;
package Appserver.Cache_Tables is

   pragma Assertion_Policy (Pre => Check);

   use Ada.Containers;

   function Mixed_Hash (Key : Key_Type) return Hash_Type with Inline;
   --  Returns Hash (Key), spread over all bits

   type Change_Number is mod 2 ** 64 with Size => 64;
   --  The sequence number of a change to a table, starting at 1

   ----------
   -- Node --
   ----------

   type Node;
   type Node_Access is access Node;

   type Side is mod 2;
   type Next_Nodes is array (Side) of Node_Access with Atomic_Components;
   pragma Suppress_Initialization (Next_Nodes);
   --  Components have no initial values, which would cost atomic stores: each component is written
   --  before it is read

   type User_Count is mod 2 ** 32 with Size => 32, Atomic;

   type Node is limited record
      Key          : Key_Type;
      Element      : Element_Type;
      Hash         : Hash_Type;
      Users        : aliased User_Count;
      --  The number of references: one from the table, and one from each task that has pinned the
      --  node
      Next         : Next_Nodes;
      --  The next node in the bucket is Next (Chains), where Chains is a component of the array of
      --  buckets. All other components that readers see are written before the node is linked.
      Number       : Change_Number;
      --  The change that linked this node
      Expires      : Ada.Real_Time.Time;
      Older, Newer : Node_Access;
   end record;

   function New_Node
     (Key     : Key_Type;
      Element : Element_Type;
      Hash    : Hash_Type;
      Expires : Ada.Real_Time.Time) return not null Node_Access;
   --  Hash is the mixed hash of Key

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
      --  The next smaller array. No node is in both arrays.
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
      --  A list linked by Newer, which readers do not follow
      Arrays : Buckets_Access := null;
   end record;

   procedure Free (Self : in out Garbage);
   --  Frees the nodes and arrays. Pinned nodes are freed by their last Release.

   procedure Move (From, To : in out Garbage);

   procedure Move_Some (From, To : in out Garbage; Nodes : Natural);
   --  Moves all arrays, and at most the given number of nodes

   function Is_Empty (Self : Garbage) return Boolean;

   -----------
   -- Table --
   -----------

   type Table is limited private;

   function Find (Self : Table; Key : Key_Type) return Node_Access with Inline;
   --  Returns null if the key is not in the table

   function Length (Self : Table) return Natural;

   ------------
   -- Search --
   ------------

   type Search is limited record
      Hash  : Hash_Type := 0;
      --  The mixed hash of the key, set by the caller
      Node  : Node_Access := null;
      --  Null if the key was not found. Must not be dereferenced: the node may have been freed
      --  since the search.
      After : Change_Number := 0;
      --  Nodes with numbers up to this one are known to have other keys
      Seen  : Change_Number := 0;
      --  The latest change that the search is guaranteed to have seen
   end record;

   procedure Find (Self : Table; Key : Key_Type; Found : in out Search);
   --  Other tasks may change the table during the search, but must not free a node that this task
   --  may see

   procedure Find_Next (Self : Table; Found : in out Search);
   --  Sets Found.Node to the first node with Found.Hash that was linked after Found.After, or to
   --  null if there is none. Calls neither Hash nor "=". The table must not change during the call.

   -------------
   -- Changes --
   -------------

   --  Only one task at a time may call these subprograms. They call no application code, do not use
   --  the heap, and raise no exceptions.

   procedure Update (Self : Table; Found : in out Search; Is_Current : out Boolean);
   --  Sets Found.Node to null if the node has been removed since the search. If Is_Current is
   --  False, a node with this hash has been linked since the search and may have the key: search
   --  again.

   function Lacking_Buckets
     (Self : Table; Found : Search; Capacity : Positive; May_Replace : Boolean) return Hash_Type;
   --  Returns the size of the array of buckets to pass to Put, or 0 if Put does not need one

   function Has_Buckets (Self : Table) return Boolean;

   procedure Put
     (Self        : in out Table;
      Node        : in out Node_Access;
      Found       : Search;
      Capacity    : Positive;
      May_Replace : Boolean;
      Larger      : in out Buckets_Access;
      Removed     : in out Garbage)
     with Pre => Has_Buckets (Self) or else Larger /= null, Post => Node = null;
   --  Links Node. It replaces Found.Node, or the oldest node if the table is full. If the table
   --  benefits from Larger, Put takes ownership of it and sets Larger to null. If May_Replace is
   --  True, Larger replaces the table's arrays, which are moved to Removed; pass False from then on
   --  until no reader uses the old arrays. If May_Replace is False, Larger is added to the table's
   --  arrays.

   procedure Remove (Self : in out Table; Found : Search; Removed : in out Garbage);

   procedure Remove_Expired (Self : in out Table; Removed : in out Garbage);
   --  Removes expired nodes, starting with the oldest. Nodes expire roughly in the order in which
   --  they were put.

   procedure Clear (Self : in out Table; Removed : in out Garbage);

   -------------
   -- Copying --
   -------------

   function Has_Expired (Self : Table) return Boolean;
   --  Returns True if Remove_Expired would remove a node

   procedure Copy (From : Table; To : in out Table; Room_For : Natural);
   --  Copies the nodes that have not expired to an empty table. If an exception occurs, To stays
   --  empty.

private

   type Atomic_Number is new Change_Number with Atomic;

   type Table is limited record
      Buckets        : Buckets_Access := null with Atomic;
      Count          : Natural := 0 with Atomic;
      Changes        : Atomic_Number := 0;
      --  The number of the latest change
      Oldest, Newest : Node_Access := null;
   end record;

   function Length (Self : Table) return Natural is (Self.Count);

   function Has_Buckets (Self : Table) return Boolean is (Self.Buckets /= null);

end Appserver.Cache_Tables;
