--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Caches of items that notice when they are used after they are gone. Some keys have the same
--  hash. Two keys make a call fail.

with Ada.Containers;
with Appserver.Caches;
with Tracked;

package Item_Caches is

   Failed : exception;

   No_Hash    : constant := -1_000;
   No_Compare : constant := -2_000;

   function Hash (Key : Integer) return Ada.Containers.Hash_Type is
     (if Key = No_Hash then raise Failed else Ada.Containers.Hash_Type'Mod (Key / 4));

   --  Its hash is that of No_Compare - 1, which the cache must have for them to be compared

   function Equal (Left, Right : Integer) return Boolean is
     (if Left = No_Compare or else Right = No_Compare then raise Failed else Left = Right);

   package Caches is new Appserver.Caches (Integer, Tracked.Item, Hash, Equal);

end Item_Caches;
