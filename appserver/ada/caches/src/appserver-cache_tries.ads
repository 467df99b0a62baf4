--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Persistent maps from keys to nodes. A change creates a new map: it copies the path to the
--  changed node, and shares all other branches with the old map, which does not change. The maps
--  are compressed hash-array mapped prefix trees (Steindorfer and Vinju, "Optimizing hash-array
--  mapped tries for fast and lean immutable JVM collections", OOPSLA 2015): each branch has up to
--  32 entries and branches, for five bits of the hash.
--
--  The branches of a map are never changed, so any number of tasks may read it. Nodes and branches
--  have reference counts: a branch is freed with the last map that contains it, and a node with the
--  last branch that contains it.

pragma Ada_2022;

with Ada.Containers;
with Appserver.Cache_Tables;
with Interfaces;

private generic
   type Key_Type is private;
   type Element_Type is private;
   with function Hash (Key : Key_Type) return Ada.Containers.Hash_Type;
   with function "=" (Left, Right : Key_Type) return Boolean is <>;
   with package Tables is new Appserver.Cache_Tables (Key_Type, Element_Type, Hash, "=");
package Appserver.Cache_Tries is

   use Ada.Containers;

   type Branch (<>) is limited private;
   type Map is access Branch;
   --  An immutable map; null is the empty map

   function Find (Self : Map; Key : Key_Type; Hash : Hash_Type) return Tables.Node_Access;
   --  Returns the node of the key, or null if the key is not in the map. Hash is the mixed hash of
   --  the key.

   function Has (Self : Map; Node : not null Tables.Node_Access) return Boolean;
   --  Returns True if the map contains Node. Does not compare keys.

   procedure Put
     (Self     : Map;
      Node     : not null Tables.Node_Access;
      Changed  : out Map;
      Replaced : out Tables.Node_Access);
   --  Sets Changed to a copy of Self that includes Node, and adds a reference to Node. Sets
   --  Replaced to the node in Self with the same key, or to null if there is none. If a comparison
   --  raises an exception, Put has no effect.

   procedure Remove (Self : Map; Node : not null Tables.Node_Access; Changed : out Map);
   --  Sets Changed to a copy of Self without Node, which must be in Self. Does not compare keys.

   procedure Add_Reference (Self : Map);

   procedure Release (Self : in out Map);
   --  Removes a reference to the map. If it was the last reference, frees the branches and nodes
   --  that no other map contains.

private

   use type Interfaces.Unsigned_32;

   subtype Slot_Map is Interfaces.Unsigned_32;
   --  A bit map of occupied slots. Each branch is indexed by five bits of the hash; bit n is set if
   --  slot n is occupied.

   type Node_List is array (Positive range <>) of Tables.Node_Access;
   type Branch_List is array (Positive range <>) of Map;

   type Branch (Entries, Branches : Natural) is limited record
      Users      : aliased Tables.User_Count;
      Entry_Map  : Slot_Map := 0;
      Branch_Map : Slot_Map := 0;
      Nodes      : Node_List (1 .. Entries);
      Lower      : Branch_List (1 .. Branches);
   end record;
   --  A branch at the maximum depth, where all bits of the hash have been used, contains only
   --  entries with equal hashes. Such a branch does not use its bit maps.

end Appserver.Cache_Tries;
