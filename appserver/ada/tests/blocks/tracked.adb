--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

with Appserver.Counters.Atomic;

package body Tracked is

   Count : Appserver.Counters.Atomic.Counter;
   Wrong : Appserver.Counters.Atomic.Counter;

   function New_Item (Number : Integer) return Item is
   begin
      return Result : Item do
         Result.Number := Number;
      end return;
   end New_Item;

   procedure Set_Number (Self : in out Item; To : Integer) is
   begin
      Self.Number := To;
   end Set_Number;

   function Number (Self : Item) return Integer is
   begin
      if Self.Life /= Alive then
         Wrong.Increment;
         raise Program_Error with "used after it was freed";
      end if;
      return Self.Number;
   end Number;

   function Live return Integer is (Integer (Count.Value));
   procedure Await_Live (Count : Integer) is
   begin
      for Turn in 1 .. 6_000 loop
         exit when Live <= Count;
         delay 0.01;
      end loop;
   end Await_Live;

   function Failures return Natural is (Natural (Wrong.Value));

   overriding procedure Initialize (Self : in out Item) is
      pragma Unreferenced (Self);
   begin
      Count.Increment;
   end Initialize;

   overriding procedure Adjust (Self : in out Item) is
   begin
      if Self.Life /= Alive then
         Wrong.Increment;
      end if;
      Count.Increment;
      if Self.Number = Uncopyable then
         raise Constraint_Error with "cannot be copied";
      end if;
   end Adjust;

   overriding procedure Finalize (Self : in out Item) is
   begin
      if Self.Life /= Alive then
         Wrong.Increment;
      end if;
      Self.Life := Gone;
      Count.Decrement;
   end Finalize;

end Tracked;
