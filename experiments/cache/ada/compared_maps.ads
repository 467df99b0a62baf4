--  SPDX-License-Identifier: Apache-2.0
--
--  Maps that are not for tasks to share: one that only the reading of is safe, and one that loses
--  entries.

with Ada.Containers.Hashed_Maps;
with Interfaces;
with Shared_Maps;

private with Appserver.References;

package Compared_Maps is

   use Interfaces;
   use Shared_Maps;

   pragma Suppress (Container_Checks);
   --  They count readers in the map itself, by atomic additions

   package Hashed_Maps is new Ada.Containers.Hashed_Maps
     (Unsigned_64, Unsigned_64, Hash, Interfaces."=", Interfaces."=");

   type Unsynchronised_Map is new Maps.Cache with private;

   overriding procedure Get
     (Self     : in out Unsynchronised_Map;
      Key      : Unsigned_64;
      Element  : in out Unsigned_64;
      Is_Found : out Boolean);
   overriding procedure Put (Self : in out Unsynchronised_Map; Key, Element : Unsigned_64);
   overriding procedure Remove (Self : in out Unsynchronised_Map; Key : Unsigned_64);
   overriding procedure Clear (Self : in out Unsynchronised_Map);
   overriding function Length (Self : in out Unsynchronised_Map) return Natural;

   type Unsafe_Copied_Map is new Maps.Cache with private;
   --  Of two writers that copy the same map, the last one wins

   overriding procedure Get
     (Self     : in out Unsafe_Copied_Map;
      Key      : Unsigned_64;
      Element  : in out Unsigned_64;
      Is_Found : out Boolean);
   overriding procedure Put (Self : in out Unsafe_Copied_Map; Key, Element : Unsigned_64);
   overriding procedure Remove (Self : in out Unsafe_Copied_Map; Key : Unsigned_64);
   overriding procedure Clear (Self : in out Unsafe_Copied_Map);
   overriding function Length (Self : in out Unsafe_Copied_Map) return Natural;

private

   type Unsynchronised_Map is new Maps.Cache with record
      Map : Hashed_Maps.Map;
   end record;

   package Map_References is new Appserver.References (Hashed_Maps.Map);

   type Unsafe_Copied_Map is new Maps.Cache with record
      Current : Map_References.Atomic.Atomic_Reference;
   end record;

end Compared_Maps;
