--  SPDX-License-Identifier: Apache-2.0
--
--  The table of Appserver.Caches.Wait_Free without any synchronization, to measure the cost of a
--  read without synchronization. Any number of tasks may read the table as long as no task writes.

private with Ada.Finalization;

generic
package Appserver.Caches.Unsynchronized is

   type Cache is new Caches.Cache with private;

   overriding procedure Get
     (Self     : in out Cache;
      Key      : Key_Type;
      Element  : in out Element_Type;
      Is_Found : out Boolean);
   overriding procedure Put (Self : in out Cache; Key : Key_Type; Element : Element_Type);
   overriding procedure Remove (Self : in out Cache; Key : Key_Type);
   overriding procedure Clear (Self : in out Cache);
   overriding function Length (Self : in out Cache) return Natural;

private

   type Owned_Table is new Ada.Finalization.Limited_Controlled with record
      Table : Tables.Table;
   end record;

   overriding procedure Finalize (Self : in out Owned_Table);

   type Cache is new Caches.Cache with record
      Table_Owner : Owned_Table;
   end record;

end Appserver.Caches.Unsynchronized;
