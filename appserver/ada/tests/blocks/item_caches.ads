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
   --  Special keys. Each has the same hash as the key below it, and as no other key.

   function Hash (Key : Integer) return Ada.Containers.Hash_Type is
     (if Key = No_Hash then raise Failed else Ada.Containers.Hash_Type'Mod (Key / 4));

   function Equal (Left, Right : Integer) return Boolean;
   --  Compares keys. Fails, takes a millisecond or blocks if one of the keys is such a key.

   Is_Comparing : Boolean := False with Atomic;
   --  Set by Equal when it blocks

   Goes_On : Boolean := False with Atomic;
   --  Equal blocks until this is True

   package Caches is new Appserver.Caches (Integer, Tracked.Item, Hash, Equal);

end Item_Caches;
