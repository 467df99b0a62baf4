--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

pragma Ada_2022;

with Ada.Unchecked_Deallocation;

package body Appserver.Name_Tables is

   overriding procedure Initialize (Self : in out Name_Table) is
      Size : Positive := 4;
   begin
      while Size < 2 * Self.Capacity loop
         Size := 2 * Size;
      end loop;
      Self.Slots := new Slot_List (Size - 1);
   end Initialize;

   function First_Slot (Self : Name_Table; Hash : Word) return Natural is
     (Natural (Hash and Word (Self.Slots.Mask)));

   function Found (Self : Name_Table; Text : String; Hash : Word) return Natural is
      Slot : Natural := First_Slot (Self, Hash);
   begin
      loop
         declare
            Item : constant Name_Access := Self.Slots.Items (Slot);
         begin
            if Item = null then
               return 0;
            elsif Item.Hash = Hash and then Item.Text = Text then
               return Item.Number;
            end if;
         end;
         Slot := (if Slot = Self.Slots.Mask then 0 else Slot + 1);
      end loop;
   end Found;

   procedure Add (Self : in out Name_Table; Text : String; Hash : Word) is
      Slot   : Natural := First_Slot (Self, Hash);
      Number : constant Positive    := Positive (Self.Used + 1);
      Item   : constant Name_Access := new Name'(Text'Length, Hash, Number, Text);
   begin
      while Self.Slots.Items (Slot) /= null loop
         Slot := (if Slot = Self.Slots.Mask then 0 else Slot + 1);
      end loop;
      Self.Numbers (Number) := Item;
      Store (Self.Used, Word (Number));
      Self.Slots.Items (Slot) := Item;
   end Add;

   procedure Free is new Ada.Unchecked_Deallocation (Name, Name_Access);
   procedure Free is new Ada.Unchecked_Deallocation (Slot_List, Slots_Access);

   overriding procedure Finalize (Self : in out Name_Table) is
      Item : Name_Access;
   begin
      for Number in 1 .. Natural (Self.Used) loop
         Item := Self.Numbers (Number);
         Free (Item);
      end loop;
      Self.Used := 0;
      Free (Self.Slots);
   end Finalize;

end Appserver.Name_Tables;
