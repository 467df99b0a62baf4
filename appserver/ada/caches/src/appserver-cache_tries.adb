--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

pragma Ada_2022;

with Ada.Unchecked_Deallocation;
with System.Atomic_Operations.Modular_Arithmetic;

package body Appserver.Cache_Tries is

   use Interfaces;
   use type Tables.Node_Access;
   use type Tables.User_Count;

   package Counting is new System.Atomic_Operations.Modular_Arithmetic (Tables.User_Count);

   procedure Free is new Ada.Unchecked_Deallocation (Branch, Map);

   Bits : constant := 5;

   subtype Shift_Count is Natural range 0 .. 35;
   --  The number of bits of the hash that the branches above have used

   Max_Shift : constant Shift_Count := 35;

   ----------
   -- Bits --
   ----------

   --  Sums pairs, groups of four bits, and bytes (Warren, "Hacker's Delight", 2nd ed., 5-1): the
   --  x86-64 baseline does not have popcnt

   function Count_Ones (Value : Unsigned_32) return Integer with Inline_Always;

   function Count_Ones (Value : Unsigned_32) return Integer is
      Pairs : constant Unsigned_32 := Value - (Shift_Right (Value, 1) and 16#5555_5555#);
      Fours : constant Unsigned_32 :=
        (Pairs and 16#3333_3333#) + (Shift_Right (Pairs, 2) and 16#3333_3333#);
      Bytes : constant Unsigned_32 := (Fours + Shift_Right (Fours, 4)) and 16#0F0F_0F0F#;
   begin
      return Integer (Shift_Right (Bytes * 16#0101_0101#, 24));
   end Count_Ones;

   function Slot_Of (Hash : Hash_Type; Shift : Shift_Count) return Slot_Map is
     (Shift_Left (1, Natural (Shift_Right (Unsigned_32 (Hash), Shift) mod 2 ** Bits)));

   --  Returns the index of Slot in the list of occupied slots. If the slot is not occupied, returns
   --  the index at which to insert it.

   function Index (Slots, Slot : Slot_Map) return Positive is
     (1 + Count_Ones (Slots and (Slot - 1)));

   ----------------
   -- References --
   ----------------

   procedure Add_Reference (Self : Map) is
   begin
      if Self /= null then
         Counting.Atomic_Add (Self.Users, 1);
      end if;
   end Add_Reference;

   procedure Release (Self : in out Map) is
      Branch : Map := Self;
   begin
      Self := null;
      if Branch /= null and then Counting.Atomic_Fetch_And_Subtract (Branch.Users, 1) = 1 then
         for Node of Branch.Nodes loop
            Tables.Release (Node);
         end loop;
         for Lower of Branch.Lower loop
            Release (Lower);
         end loop;
         Free (Branch);
      end if;
   end Release;

   --  Adds references to the nodes and branches of Self, which is new

   procedure Share (Self : not null Map; Except : Map := null) is
   begin
      Self.Users := 1;
      for Node of Self.Nodes loop
         Tables.Pin (Node);
      end loop;
      for Lower of Self.Lower loop
         if Lower /= Except then
            Add_Reference (Lower);
         end if;
      end loop;
   end Share;

   ----------
   -- Find --
   ----------

   function Find_Equal (Self : not null Map; Key : Key_Type; Hash : Hash_Type)
      return Tables.Node_Access is
   begin
      for Node of Self.Nodes loop
         if Node.Hash = Hash and then Node.Key = Key then
            return Node;
         end if;
      end loop;
      return null;
   end Find_Equal;

   function Find (Self : Map; Key : Key_Type; Hash : Hash_Type) return Tables.Node_Access is
      Current : Map := Self;
      Shift   : Shift_Count := 0;
      Slot    : Slot_Map;
      Node    : Tables.Node_Access;
   begin
      while Current /= null and then Shift < Max_Shift loop
         Slot := Slot_Of (Hash, Shift);
         if (Current.Entry_Map and Slot) /= 0 then
            Node := Current.Nodes (Index (Current.Entry_Map, Slot));
            return (if Node.Hash = Hash and then Node.Key = Key then Node else null);
         elsif (Current.Branch_Map and Slot) = 0 then
            return null;
         end if;
         Current := Current.Lower (Index (Current.Branch_Map, Slot));
         Shift := Shift + Bits;
      end loop;
      return (if Current = null then null else Find_Equal (Current, Key, Hash));
   end Find;

   function Has (Self : Map; Node : not null Tables.Node_Access) return Boolean is
      Current : Map := Self;
      Shift   : Shift_Count := 0;
      Slot    : Slot_Map;
   begin
      while Current /= null and then Shift < Max_Shift loop
         Slot := Slot_Of (Node.Hash, Shift);
         if (Current.Entry_Map and Slot) /= 0 then
            return Current.Nodes (Index (Current.Entry_Map, Slot)) = Node;
         elsif (Current.Branch_Map and Slot) = 0 then
            return False;
         end if;
         Current := Current.Lower (Index (Current.Branch_Map, Slot));
         Shift := Shift + Bits;
      end loop;
      return Current /= null and then (for some Each of Current.Nodes => Each = Node);
   end Has;

   -------------
   -- Copying --
   -------------

   function With_Node_At
     (Self : not null Map; At_Index : Positive; Node : not null Tables.Node_Access)
      return not null Map
   is
      Result : constant not null Map := new Branch (Self.Entries, Self.Branches);
   begin
      Result.Entry_Map := Self.Entry_Map;
      Result.Branch_Map := Self.Branch_Map;
      Result.Nodes := Self.Nodes;
      Result.Lower := Self.Lower;
      Result.Nodes (At_Index) := Node;
      Share (Result);
      return Result;
   end With_Node_At;

   function With_New_Node
     (Self : not null Map; At_Index : Positive; Slot : Slot_Map; Node : not null Tables.Node_Access)
      return not null Map
   is
      Result : constant not null Map := new Branch (Self.Entries + 1, Self.Branches);
   begin
      Result.Entry_Map := Self.Entry_Map or Slot;
      Result.Branch_Map := Self.Branch_Map;
      Result.Nodes :=
        Self.Nodes (1 .. At_Index - 1) & Node & Self.Nodes (At_Index .. Self.Entries);
      Result.Lower := Self.Lower;
      Share (Result);
      return Result;
   end With_New_Node;

   function Without_Node (Self : not null Map; At_Index : Positive; Slot : Slot_Map) return Map is
      Result : Map := null;
   begin
      if Self.Entries + Self.Branches > 1 then
         Result := new Branch (Self.Entries - 1, Self.Branches);
         Result.Entry_Map := Self.Entry_Map and not Slot;
         Result.Branch_Map := Self.Branch_Map;
         Result.Nodes :=
           Self.Nodes (1 .. At_Index - 1) & Self.Nodes (At_Index + 1 .. Self.Entries);
         Result.Lower := Self.Lower;
         Share (Result);
      end if;
      return Result;
   end Without_Node;

   --  The result takes over the reference to Lower

   function With_Branch
     (Self : not null Map; Slot : Slot_Map; Lower : not null Map) return not null Map
   is
      Result : constant not null Map := new Branch (Self.Entries, Self.Branches);
   begin
      Result.Entry_Map := Self.Entry_Map;
      Result.Branch_Map := Self.Branch_Map;
      Result.Nodes := Self.Nodes;
      Result.Lower := Self.Lower;
      Result.Lower (Index (Self.Branch_Map, Slot)) := Lower;
      Share (Result, Except => Lower);
      return Result;
   end With_Branch;

   --  Returns a copy in which a branch replaces an entry

   function With_Branch_For_Node
     (Self : not null Map; Slot : Slot_Map; Lower : not null Map) return not null Map
   is
      Result : constant not null Map := new Branch (Self.Entries - 1, Self.Branches + 1);
      From   : constant Positive := Index (Self.Entry_Map, Slot);
      To     : constant Positive := Index (Self.Branch_Map, Slot);
   begin
      Result.Entry_Map := Self.Entry_Map and not Slot;
      Result.Branch_Map := Self.Branch_Map or Slot;
      Result.Nodes := Self.Nodes (1 .. From - 1) & Self.Nodes (From + 1 .. Self.Entries);
      Result.Lower := Self.Lower (1 .. To - 1) & Lower & Self.Lower (To .. Self.Branches);
      Share (Result, Except => Lower);
      return Result;
   end With_Branch_For_Node;

   --  Returns a copy in which the only entry of a branch replaces the branch

   function With_Node_For_Branch
     (Self : not null Map; Slot : Slot_Map; Node : not null Tables.Node_Access)
      return not null Map
   is
      Result : constant not null Map := new Branch (Self.Entries + 1, Self.Branches - 1);
      From   : constant Positive := Index (Self.Branch_Map, Slot);
      To     : constant Positive := Index (Self.Entry_Map, Slot);
   begin
      Result.Entry_Map := Self.Entry_Map or Slot;
      Result.Branch_Map := Self.Branch_Map and not Slot;
      Result.Nodes := Self.Nodes (1 .. To - 1) & Node & Self.Nodes (To .. Self.Entries);
      Result.Lower := Self.Lower (1 .. From - 1) & Self.Lower (From + 1 .. Self.Branches);
      Share (Result);
      return Result;
   end With_Node_For_Branch;

   function Without_Branch (Self : not null Map; Slot : Slot_Map) return Map is
      Result : Map := null;
      From   : constant Positive := Index (Self.Branch_Map, Slot);
   begin
      if Self.Entries + Self.Branches > 1 then
         Result := new Branch (Self.Entries, Self.Branches - 1);
         Result.Entry_Map := Self.Entry_Map;
         Result.Branch_Map := Self.Branch_Map and not Slot;
         Result.Nodes := Self.Nodes;
         Result.Lower := Self.Lower (1 .. From - 1) & Self.Lower (From + 1 .. Self.Branches);
         Share (Result);
      end if;
      return Result;
   end Without_Branch;

   ---------
   -- Put --
   ---------

   --  Returns a branch of two nodes with different keys

   function Branch_Of (Old, Node : not null Tables.Node_Access; Shift : Shift_Count)
      return not null Map
   is
      Result   : Map;
      Old_Slot : Slot_Map;
      Slot     : Slot_Map;
   begin
      if Shift >= Max_Shift then
         Result := new Branch (Entries => 2, Branches => 0);
         Result.Nodes := [Old, Node];
         Share (Result);
      else
         Old_Slot := Slot_Of (Old.Hash, Shift);
         Slot := Slot_Of (Node.Hash, Shift);
         if Old_Slot = Slot then
            Result := new Branch (Entries => 0, Branches => 1);
            Result.Branch_Map := Slot;
            Result.Users := 1;
            Result.Lower (1) := Branch_Of (Old, Node, Shift + Bits);
         else
            Result := new Branch (Entries => 2, Branches => 0);
            Result.Entry_Map := Old_Slot or Slot;
            Result.Nodes := (if Old_Slot < Slot then [Old, Node] else [Node, Old]);
            Share (Result);
         end if;
      end if;
      return Result;
   end Branch_Of;

   procedure Put_At
     (Self     : not null Map;
      Node     : not null Tables.Node_Access;
      Shift    : Shift_Count;
      Changed  : out Map;
      Replaced : out Tables.Node_Access);

   procedure Put_Equal
     (Self     : not null Map;
      Node     : not null Tables.Node_Access;
      Changed  : out Map;
      Replaced : out Tables.Node_Access) is
   begin
      Replaced := null;
      for I in Self.Nodes'Range loop
         if Self.Nodes (I).Key = Node.Key then
            Replaced := Self.Nodes (I);
            Changed := With_Node_At (Self, I, Node);
            return;
         end if;
      end loop;
      Changed := With_New_Node (Self, Self.Entries + 1, 0, Node);
   end Put_Equal;

   procedure Put_At
     (Self     : not null Map;
      Node     : not null Tables.Node_Access;
      Shift    : Shift_Count;
      Changed  : out Map;
      Replaced : out Tables.Node_Access)
   is
      Slot    : Slot_Map;
      Current : Tables.Node_Access;
      Lower   : Map;
   begin
      Replaced := null;
      if Shift >= Max_Shift then
         Put_Equal (Self, Node, Changed, Replaced);
         return;
      end if;
      Slot := Slot_Of (Node.Hash, Shift);
      if (Self.Entry_Map and Slot) /= 0 then
         Current := Self.Nodes (Index (Self.Entry_Map, Slot));
         if Current.Hash = Node.Hash and then Current.Key = Node.Key then
            Replaced := Current;
            Changed := With_Node_At (Self, Index (Self.Entry_Map, Slot), Node);
         else
            Changed := With_Branch_For_Node
              (Self, Slot, Branch_Of (Current, Node, Shift + Bits));
         end if;
      elsif (Self.Branch_Map and Slot) /= 0 then
         Put_At
           (Self.Lower (Index (Self.Branch_Map, Slot)), Node, Shift + Bits, Lower, Replaced);
         Changed := With_Branch (Self, Slot, Lower);
      else
         Changed := With_New_Node (Self, Index (Self.Entry_Map, Slot), Slot, Node);
      end if;
   end Put_At;

   procedure Put
     (Self     : Map;
      Node     : not null Tables.Node_Access;
      Changed  : out Map;
      Replaced : out Tables.Node_Access) is
   begin
      if Self = null then
         Replaced := null;
         Changed := new Branch (Entries => 1, Branches => 0);
         Changed.Entry_Map := Slot_Of (Node.Hash, 0);
         Changed.Nodes (1) := Node;
         Share (Changed);
      else
         Put_At (Self, Node, 0, Changed, Replaced);
      end if;
   end Put;

   ------------
   -- Remove --
   ------------

   function Removed_At
     (Self : not null Map; Node : not null Tables.Node_Access; Shift : Shift_Count) return Map
   is
      Slot  : Slot_Map;
      Lower : Map;
      Only  : Tables.Node_Access;
   begin
      if Shift >= Max_Shift then
         for I in Self.Nodes'Range loop
            if Self.Nodes (I) = Node then
               return Without_Node (Self, I, 0);
            end if;
         end loop;
         raise Program_Error with "the node is not in the map";
      end if;
      Slot := Slot_Of (Node.Hash, Shift);
      if (Self.Entry_Map and Slot) /= 0 then
         return Without_Node (Self, Index (Self.Entry_Map, Slot), Slot);
      end if;
      Lower := Removed_At (Self.Lower (Index (Self.Branch_Map, Slot)), Node, Shift + Bits);
      if Lower = null then
         return Without_Branch (Self, Slot);
      elsif Lower.Entries = 1 and then Lower.Branches = 0 then
         Only := Lower.Nodes (1);
         return Result : constant Map := With_Node_For_Branch (Self, Slot, Only) do
            Release (Lower);
         end return;
      else
         return With_Branch (Self, Slot, Lower);
      end if;
   end Removed_At;

   procedure Remove (Self : Map; Node : not null Tables.Node_Access; Changed : out Map) is
   begin
      Changed := Removed_At (Self, Node, 0);
   end Remove;

end Appserver.Cache_Tries;
