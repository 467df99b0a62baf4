--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Caches of items that detect use after finalization. Some keys have the same hash. For some keys,
--  a call fails or is slow.

with Ada.Containers;
with Appserver.Caches;
with Tracked;

package Item_Caches is

   Failed : exception;

   No_Hash         : constant := -1_000;
   No_Compare      : constant := -2_000;
   Slow_Compare    : constant := -3_000;
   Blocked_Compare : constant := -4_000;
   --  Special keys. Each special key has the same hash as the next lower key.

   function Hash (Key : Integer) return Ada.Containers.Hash_Type is
     (if Key = No_Hash then raise Failed else Ada.Containers.Hash_Type'Mod (Key / 4));

   function Equal (Left, Right : Integer) return Boolean;
   --  Compares keys. If one of the keys is special, raises an exception (No_Compare), takes a
   --  millisecond (Slow_Compare) or blocks (Blocked_Compare).

   Is_Comparing : Boolean := False with Atomic;
   --  True while Equal blocks

   Goes_On : Boolean := False with Atomic;
   --  Set this variable to True to end the wait in Equal

   package Caches is new Appserver.Caches (Integer, Tracked.Item, Hash, Equal);

end Item_Caches;
