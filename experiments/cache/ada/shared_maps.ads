--  SPDX-License-Identifier: Apache-2.0
--
--  The maps that tasks use concurrently: the maps of Appserver.Caches, and two maps for comparison.
--  One of these is safe only for reading, and the other one loses entries.

with Ada.Containers;
with Appserver.Caches;
with Interfaces;

package Shared_Maps is

   use Interfaces;

   --  Computes a hash by Fibonacci hashing (Knuth, The Art of Computer Programming 3, 6.4)

   function Hash (Key : Unsigned_64) return Ada.Containers.Hash_Type is
     (Ada.Containers.Hash_Type (Shift_Right (Key * 16#9E37_79B9_7F4A_7C15#, 32)));

   package Maps is new Appserver.Caches (Unsigned_64, Unsigned_64, Hash);

   type Scheme is
     (Unsynchronized, Lock, Read_Write_Lock, Copy_On_Write, Unsafe_Copy_On_Write, Concurrent);

   type Map_Reference is access Maps.Cache'Class;

   function New_Map (Kind : Scheme; Entries : Natural) return not null Map_Reference;
   --  Creates a map with the keys from 0 to Entries - 1. The value of key k is k + 1. The caller
   --  must free the map.

   function New_Bounded_Map (Capacity : Positive) return not null Map_Reference;
   --  Creates an empty map with the scheme Concurrent. The caller must free the map.

   procedure Free (Self : in out Map_Reference);

end Shared_Maps;
