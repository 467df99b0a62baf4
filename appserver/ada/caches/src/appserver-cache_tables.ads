--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  A hash table that one task changes at a time, while any number of others read it: what they may
--  still see is not freed, but handed to the one that changes. Entries are in the order in which
--  they were put, too.

pragma Ada_2022;

with Ada.Containers;
with Ada.Real_Time;

private generic
   type Key_Type is private;
   type Element_Type is private;
   with function Hash (Key : Key_Type) return Ada.Containers.Hash_Type;
   with function "=" (Left, Right : Key_Type) return Boolean is <>;
package Appserver.Cache_Tables is

   use Ada.Containers;

   type Node;
   type Node_Access is access Node;

   type Node is limited record
      Key          : Key_Type;
      Element      : Element_Type;
      Hash         : Hash_Type;
      Expires      : Ada.Real_Time.Time;
      Next         : Node_Access with Atomic;
      --  In its bucket. All else that readers see is written before the node is linked.
      Older, Newer : Node_Access;
   end record;

   function New_Node
     (Key : Key_Type; Element : Element_Type; Expires : Ada.Real_Time.Time)
      return not null Node_Access;

   type Buckets;
   type Buckets_Access is access Buckets;

   type Bucket_Array is array (Hash_Type range <>) of Node_Access with Atomic_Components;

   type Buckets (Last : Hash_Type) is limited record
      Next_Garbage : Buckets_Access := null;
      First        : Bucket_Array (0 .. Last);
   end record;
   --  Their number is a power of two

   -------------
   -- Garbage --
   -------------

   type Garbage is limited record
      Nodes  : Node_Access := null;
      --  A list by Newer, which readers do not follow
      Arrays : Buckets_Access := null;
   end record;

   procedure Free (Self : in out Garbage);
   procedure Free (Self : in out Node_Access);
   --  One that was never put

   procedure Move (From, To : in out Garbage);

   function Is_Empty (Self : Garbage) return Boolean;

   -----------
   -- Table --
   -----------

   type Table is limited private;

   function Find (Self : Table; Key : Key_Type) return Node_Access with Inline;
   --  Null if it is not there

   function Length (Self : Table) return Natural;

   --  An exception of Hash, of "=" or of a copy leaves the table as it was

   procedure Put
     (Self     : in out Table;
      Node     : not null Node_Access;
      Capacity : Positive;
      Removed  : in out Garbage);
   --  In place of the one with the same key, or of the oldest if it is full. Nodes that have
   --  expired are removed, too. After an exception Node is still the caller's.

   procedure Remove (Self : in out Table; Key : Key_Type; Removed : in out Garbage);

   function Has_Expired (Self : Table) return Boolean;
   --  Remove_Expired would remove something

   procedure Remove_Expired (Self : in out Table; Removed : in out Garbage);
   --  Nodes expire in the order in which they were put, or nearly

   procedure Clear (Self : in out Table; Removed : in out Garbage);

   procedure Copy (From : Table; To : in out Table; Room_For : Natural);
   --  To an empty one, without the nodes that have expired. It stays empty after an exception.

private

   type Table is limited record
      Buckets        : Buckets_Access := null with Atomic;
      Count          : Natural := 0 with Atomic;
      Oldest, Newest : Node_Access := null;
   end record;

   function Length (Self : Table) return Natural is (Self.Count);

end Appserver.Cache_Tables;
