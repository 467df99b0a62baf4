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
   --  Raises Program_Error after finalization

   Uncopyable : constant Integer := Integer'First;
   --  Copying an item with this number raises an exception

   function Live return Integer;

   procedure Await_Live (Count : Integer);
   --  Waits until at most Count items exist, for up to 30 s. A cache's own task may be finalizing
   --  items at the moment.

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
