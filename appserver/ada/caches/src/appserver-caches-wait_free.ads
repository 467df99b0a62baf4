--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  A cache whose readers never wait, whatever writers do, and write to no memory that tasks share:
--  each thread has a slot of its own. Writers wait for each other. What they replace is freed when
--  those that read at that time have left, with a later write: after 64 more, or Clear.

pragma Ada_2022;

private with Ada.Finalization;
private with Appserver.Reader_Slots;

generic
package Appserver.Caches.Wait_Free is

   type Cache is new Caches.Cache with private;

   overriding procedure Get
     (Self     : in out Cache;
      Key      : Key_Type;
      Element  : in out Element_Type;
      Is_Found : out Boolean);
   --  An abort in here leaves nothing behind

   overriding procedure Put (Self : in out Cache; Key : Key_Type; Element : Element_Type);
   overriding procedure Remove (Self : in out Cache; Key : Key_Type);
   overriding procedure Clear (Self : in out Cache);
   overriding function Length (Self : in out Cache) return Natural;

private

   --  What was unlinked in one epoch

   type Batch;
   type Batch_Access is access Batch;

   type Batch is limited record
      Removed : Tables.Garbage;
      Epoch   : Reader_Slots.Epoch := 0;
      Next    : Batch_Access := null;
   end record;

   type Owned_Table is tagged;

   protected type Writer (Owner : not null access Owned_Table) is

      --  The caller frees what is in Free: nobody can see it any more

      procedure Put
        (Node     : not null Tables.Node_Access;
         Capacity : Positive;
         Free     : in out Tables.Garbage);
      procedure Remove (Key : Key_Type; Free : in out Tables.Garbage);
      procedure Clear (Free : in out Tables.Garbage);
      procedure Take_All (Free : in out Tables.Garbage);
      --  There are no readers any more
   private
      Unlinked    : Tables.Garbage;
      Writes      : Natural := 0;
      --  Since the last batch
      First, Last : Batch_Access := null;
   end Writer;

   type Owned_Table is new Ada.Finalization.Limited_Controlled with record
      Table  : Tables.Table;
      Writer : Wait_Free.Writer (Owned_Table'Access);
   end record;

   overriding procedure Finalize (Self : in out Owned_Table);

   type Cache is new Caches.Cache with record
      Owned : Owned_Table;
   end record;

end Appserver.Caches.Wait_Free;
