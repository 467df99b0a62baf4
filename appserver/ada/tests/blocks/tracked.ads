--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Values that count their live objects, and detect use after finalization

private with Ada.Finalization;

package Tracked is

   type Item is private;

   function New_Item (Number : Integer) return Item;
   procedure Set_Number (Self : in out Item; To : Integer);
   function Number (Self : Item) return Integer;
   --  Returns the number of an item. Raises Program_Error if the item has been finalized.

   Uncopyable : constant Integer := Integer'First;
   --  The number of an item that cannot be copied, because its Adjust raises an exception

   function Live return Integer;

   procedure Await_Live (Count : Integer);
   --  Waits for up to 30 s until at most Count items exist. The wait is necessary because a cache's
   --  own task may still be finalizing items.

   function Failures return Natural;
   --  Returns the number of items that were finalized twice, or used after finalization

private

   type Life is (Alive, Gone);

   type Item is new Ada.Finalization.Controlled with record
      Number : Integer := 0;
      Life   : Tracked.Life := Alive;
   end record;

   overriding procedure Initialize (Self : in out Item);
   overriding procedure Adjust (Self : in out Item);
   overriding procedure Finalize (Self : in out Item);

end Tracked;
