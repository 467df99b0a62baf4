--  SPDX-License-Identifier: Apache-2.0
--
--  A map that loses entries: if two writers copy the same map, the last writer discards the entry
--  of the other one.

with Ada.Containers.Hashed_Maps;
with Interfaces;
with Shared_Maps;

private with Appserver.References;

package Unsafe_Copied_Maps is

   use Interfaces;
   use Shared_Maps;

   pragma Suppress (Container_Checks);
   --  Container_Checks are suppressed, since these checks count readers in the map itself, with
   --  atomic additions

   package Hashed_Maps is new Ada.Containers.Hashed_Maps
     (Unsigned_64, Unsigned_64, Hash, Interfaces."=", Interfaces."=");

   type Unsafe_Copied_Map is new Maps.Cache with private;

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

   package Map_References is new Appserver.References (Hashed_Maps.Map);

   type Unsafe_Copied_Map is new Maps.Cache with record
      Current : Map_References.Atomic.Atomic_Reference;
   end record;

end Unsafe_Copied_Maps;
