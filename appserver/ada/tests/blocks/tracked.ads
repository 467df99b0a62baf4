--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Values that count how many of them exist, and notice when one is used after it is gone

private with Ada.Finalization;

package Tracked is

   type Item is private;

   function New_Item (Number : Integer) return Item;
   procedure Set_Number (Self : in out Item; To : Integer);
   function Number (Self : Item) return Integer;
   --  Program_Error if it is gone

   Uncopyable : constant Integer := Integer'First;
   --  Copying an item with this number raises an exception

   function Live return Integer;
   function Failures return Natural;
   --  Items that were finalized twice, or used after that

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
