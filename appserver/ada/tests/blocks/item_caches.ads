--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Caches of items that notice when they are used after they are gone. Some keys have the same
--  hash.

with Ada.Containers;
with Appserver.Caches;
with Tracked;

package Item_Caches is

   function Hash (Key : Integer) return Ada.Containers.Hash_Type is
     (Ada.Containers.Hash_Type'Mod (Key / 4));

   package Caches is new Appserver.Caches (Integer, Tracked.Item, Hash);

end Item_Caches;
