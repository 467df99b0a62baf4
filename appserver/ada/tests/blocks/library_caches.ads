--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  A cache that lives until the end of the program

with Ada.Containers;
with Appserver.Caches;
with Appserver.Caches.Wait_Free;

package Library_Caches is

   function Hash (Key : Integer) return Ada.Containers.Hash_Type is
     (Ada.Containers.Hash_Type'Mod (Key));

   package Caches is new Appserver.Caches (Integer, Integer, Hash);
   package Wait_Free is new Caches.Wait_Free;

   Cache : Wait_Free.Cache;

end Library_Caches;
