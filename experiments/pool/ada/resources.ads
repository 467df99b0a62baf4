--  SPDX-License-Identifier: Apache-2.0
--
--  The leased resource, 64 KiB of memory, and its pool

with Appserver.Pools;
with Interfaces;

package Resources is

   use Interfaces;

   type Word_List is array (1 .. 8_192) of Unsigned_64;

   type Resource is limited record
      Is_Held : Boolean := False with Volatile;
      --  True while a task holds the resource. Each task checks that no other task holds the
      --  resource.
      Uses    : Unsigned_64 := 0;
      Words   : Word_List := [others => 1];
   end record;

   package Resource_Pools is new Appserver.Pools (Resource);

   type Pool_Access is access all Resource_Pools.Pool;

end Resources;
