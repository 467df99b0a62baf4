--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Maps names to numbers, with lookups that take no lock: a hash table that only grows.

pragma Ada_2022;

with Appserver.Atomic_Words;
with Interfaces;

private with Ada.Finalization;

package Appserver.Name_Tables is

   pragma Assertion_Policy (Pre => Check);

   type Name_Table (Capacity : Positive) is limited private;
   --  A table of at most Capacity names. Any number of tasks may look up names concurrently, but
   --  only one task at a time may add a name.

   function Found (Self : Name_Table; Text : String; Hash : Atomic_Words.Word) return Natural
     with Inline;
   --  Returns the number of a name, starting with 1; 0 if the name is not in the table

   function Is_Full (Self : Name_Table) return Boolean;

   procedure Add (Self : in out Name_Table; Text : String; Hash : Atomic_Words.Word)
     with Pre => not Is_Full (Self) or else raise Misuse_Error with "the table is full";
   --  Adds a name that is not in the table, and assigns it the next number

   function Used (Self : Name_Table) return Natural;
   --  Returns the number of names, which is also the number of the last name

   function Text (Self : Name_Table; Number : Positive) return String
     with Pre => Number <= Used (Self) or else raise Misuse_Error with "there is no such name";

private

   use Atomic_Words;
   use type Interfaces.Unsigned_64;

   type Name (Length : Natural) is record
      Hash   : Word;
      Number : Positive;
      Text   : String (1 .. Length);
   end record;

   type Name_Access is access Name;
   type Name_List is array (Natural range <>) of Name_Access with Atomic_Components;

   type Slot_List (Mask : Natural) is limited record
      Items : Name_List (0 .. Mask) := [others => null];
   end record;

   type Slots_Access is access Slot_List;

   type Name_Table (Capacity : Positive) is
     limited new Ada.Finalization.Limited_Controlled with record
      Slots   : Slots_Access;
      --  The hash table. The number of slots is a power of two, with at least two slots for each
      --  name.
      Used    : aliased Word := 0;
      Numbers : Name_List (1 .. Capacity) := [others => null];
   end record;

   overriding procedure Initialize (Self : in out Name_Table);
   overriding procedure Finalize (Self : in out Name_Table);

   function Is_Full (Self : Name_Table) return Boolean is (Load (Self.Used) = Word (Self.Capacity));
   function Used (Self : Name_Table) return Natural is (Natural (Load (Self.Used)));
   function Text (Self : Name_Table; Number : Positive) return String is
     (Self.Numbers (Number).Text);

end Appserver.Name_Tables;
