--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Caches of items that notice when they are used after they are gone. Some keys have the same
--  hash. With some keys a call fails, or takes long.

with Ada.Containers;
with Appserver.Caches;
with Tracked;

package Item_Caches is

   Failed : exception;

   No_Hash         : constant := -1_000;
   No_Compare      : constant := -2_000;
   Slow_Compare    : constant := -3_000;
   Blocked_Compare : constant := -4_000;
   --  Keys. The hash of each is that of the key below, and of no other one.

   function Hash (Key : Integer) return Ada.Containers.Hash_Type is
     (if Key = No_Hash then raise Failed else Ada.Containers.Hash_Type'Mod (Key / 4));

   function Equal (Left, Right : Integer) return Boolean;
   --  Fails, takes a millisecond or blocks if one of the two is such a key

   Is_Comparing : Boolean := False with Atomic;
   --  Set by Equal where it blocks

   Goes_On : Boolean := False with Atomic;
   --  Equal blocks until then

   package Caches is new Appserver.Caches (Integer, Tracked.Item, Hash, Equal);

end Item_Caches;
