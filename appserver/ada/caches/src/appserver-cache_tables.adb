--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

pragma Ada_2022;

with Ada.Unchecked_Deallocation;
with Interfaces;

package body Appserver.Cache_Tables is

   use Ada.Real_Time;

   procedure Free_Node is new Ada.Unchecked_Deallocation (Node, Node_Access);
   procedure Free is new Ada.Unchecked_Deallocation (Buckets, Buckets_Access);

   procedure Free (Self : in out Node_Access) is
   begin
      Free_Node (Self);
   end Free;

   Fewest_Buckets : constant := 16;

   --  Callers' hashes may be equal in their low bits (Knuth, TAOCP 3, 6.4: multiplicative hashing)

   function Mixed_Hash (Key : Key_Type) return Hash_Type is
      Product : constant Hash_Type := Hash (Key) * 16#9E37_79B1#;
   begin
      return Product xor Hash_Type
        (Interfaces.Shift_Right (Interfaces.Unsigned_32 (Product), 16));
   end Mixed_Hash;

   --  Assigned part by part: an allocator whose value raises an exception would leave its memory

   function New_Node
     (Key : Key_Type; Element : Element_Type; Hash : Hash_Type; Expires : Time)
      return not null Node_Access
   is
      Result : Node_Access := new Node;
   begin
      Result.Key := Key;
      Result.Element := Element;
      Result.Hash := Hash;
      Result.Expires := Expires;
      return Result;
   exception
      when others =>
         Free (Result);
         raise;
   end New_Node;

   function New_Node
     (Key : Key_Type; Element : Element_Type; Expires : Time) return not null Node_Access is
     (New_Node (Key, Element, Mixed_Hash (Key), Expires));

   -------------
   -- Garbage --
   -------------

   procedure Add (Self : in out Garbage; Node : not null Node_Access) is
   begin
      Node.Newer := Self.Nodes;
      Self.Nodes := Node;
   end Add;

   procedure Add (Self : in out Garbage; Buckets : not null Buckets_Access) is
   begin
      Buckets.Next_Garbage := Self.Arrays;
      Self.Arrays := Buckets;
   end Add;

   procedure Move (From, To : in out Garbage) is
      Node        : Node_Access;
      Old_Buckets : Buckets_Access;
   begin
      if Is_Empty (To) then
         To.Nodes := From.Nodes;
         To.Arrays := From.Arrays;
         From.Nodes := null;
         From.Arrays := null;
      end if;
      while From.Nodes /= null loop
         Node := From.Nodes;
         From.Nodes := Node.Newer;
         Add (To, Node);
      end loop;
      while From.Arrays /= null loop
         Old_Buckets := From.Arrays;
         From.Arrays := Old_Buckets.Next_Garbage;
         Add (To, Old_Buckets);
      end loop;
   end Move;

   procedure Free (Self : in out Garbage) is
      Node        : Node_Access;
      Old_Buckets : Buckets_Access;
   begin
      while Self.Nodes /= null loop
         Node := Self.Nodes;
         Self.Nodes := Node.Newer;
         Free_Node (Node);
      end loop;
      while Self.Arrays /= null loop
         Old_Buckets := Self.Arrays;
         Self.Arrays := Old_Buckets.Next_Garbage;
         Free (Old_Buckets);
      end loop;
   end Free;

   function Is_Empty (Self : Garbage) return Boolean is
     (Self.Nodes = null and then Self.Arrays = null);

   -----------
   -- Table --
   -----------

   function Find (Self : Table; Key : Key_Type) return Node_Access is
      pragma Suppress (Index_Check);
      Buckets : constant Buckets_Access := Self.Buckets;
      Hash    : Hash_Type;
      Node    : Node_Access := null;
   begin
      if Buckets /= null then
         Hash := Mixed_Hash (Key);
         Node := Buckets.First (Hash and Buckets.Last);
         while Node /= null and then (Node.Hash /= Hash or else not (Node.Key = Key)) loop
            Node := Node.Next;
         end loop;
      end if;
      return Node;
   end Find;

   --  Readers that are at a node which is unlinked go on from there: it keeps its Next

   procedure Unlink
     (Self : in out Table; Node, Successor : Node_Access; Removed : in out Garbage)
   is
      Bucket : constant Hash_Type := Node.Hash and Self.Buckets.Last;
      Before : Node_Access := Self.Buckets.First (Bucket);
   begin
      if Before = Node then
         Self.Buckets.First (Bucket) := Successor;
      else
         while Before.Next /= Node loop
            Before := Before.Next;
         end loop;
         Before.Next := Successor;
      end if;
      if Node.Older = null then
         Self.Oldest := Node.Newer;
      else
         Node.Older.Newer := Node.Newer;
      end if;
      if Node.Newer = null then
         Self.Newest := Node.Older;
      else
         Node.Newer.Older := Node.Older;
      end if;
      Add (Removed, Node);
   end Unlink;

   procedure Append (Self : in out Table; Node : not null Node_Access) is
   begin
      Node.Older := Self.Newest;
      Node.Newer := null;
      if Self.Newest = null then
         Self.Oldest := Node;
      else
         Self.Newest.Newer := Node;
      end if;
      Self.Newest := Node;
   end Append;

   procedure Link (Self : in out Table; Node : not null Node_Access) is
      Bucket : constant Hash_Type := Node.Hash and Self.Buckets.Last;
   begin
      Node.Next := Self.Buckets.First (Bucket);
      Self.Buckets.First (Bucket) := Node;
      Append (Self, Node);
      Self.Count := Self.Count + 1;
   end Link;

   function Number_Of_Buckets (Room_For : Natural) return Hash_Type is
      Result : Hash_Type := Fewest_Buckets;
   begin
      while Result < Hash_Type (Room_For) and then Result < 2 ** 30 loop
         Result := 2 * Result;
      end loop;
      return Result;
   end Number_Of_Buckets;

   procedure Clear (Self : in out Table; Removed : in out Garbage) is
      Old  : constant Buckets_Access := Self.Buckets;
      Node : Node_Access := Self.Oldest;
      Next : Node_Access;
   begin
      Self.Buckets := null;
      Self.Count := 0;
      Self.Oldest := null;
      Self.Newest := null;
      while Node /= null loop
         Next := Node.Newer;
         Add (Removed, Node);
         Node := Next;
      end loop;
      if Old /= null then
         Add (Removed, Old);
      end if;
   end Clear;

   ------------
   -- Expiry --
   ------------

   --  Does not read the clock for nodes that never expire

   function Is_Expired (Node : not null Node_Access) return Boolean is
     (Node.Expires /= Time_Last and then Node.Expires <= Clock);

   function Has_Expired (Self : Table) return Boolean is
     (Self.Oldest /= null and then Is_Expired (Self.Oldest));

   procedure Remove_Oldest (Self : in out Table; Removed : in out Garbage) is
   begin
      Unlink (Self, Self.Oldest, Successor => Self.Oldest.Next, Removed => Removed);
      Self.Count := Self.Count - 1;
   end Remove_Oldest;

   procedure Remove_Expired (Self : in out Table; Removed : in out Garbage) is
      Now : Time;
   begin
      if Has_Expired (Self) then
         Now := Clock;
         while Self.Oldest /= null and then Self.Oldest.Expires <= Now loop
            Remove_Oldest (Self, Removed);
         end loop;
      end if;
   end Remove_Expired;

   -------------
   -- Copying --
   -------------

   procedure Copy (From : Table; To : in out Table; Room_For : Natural) is
      Node : Node_Access := From.Oldest;
   begin
      while Node /= null and then Is_Expired (Node) loop
         Node := Node.Newer;
      end loop;
      To.Buckets := new Buckets (Last => Number_Of_Buckets (Room_For) - 1);
      while Node /= null loop
         Link (To, New_Node (Node.Key, Node.Element, Node.Hash, Node.Expires));
         Node := Node.Newer;
      end loop;
   exception
      when others =>
         declare
            Copied : Garbage;
         begin
            Clear (To, Copied);
            Free (Copied);
         end;
         raise;
   end Copy;

   --  Readers go on in the old buckets and nodes, while these are garbage: a node can be in one
   --  bucket only

   procedure Grow (Self : in out Table; Removed : in out Garbage) is
      Old, Larger : Table;
   begin
      Copy (Self, Larger, Room_For => 2 * Self.Count);
      Old.Buckets := Self.Buckets;
      Old.Oldest := Self.Oldest;
      Self.Count := Larger.Count;
      Self.Buckets := Larger.Buckets;
      Self.Oldest := Larger.Oldest;
      Self.Newest := Larger.Newest;
      Clear (Old, Removed);
   end Grow;

   --  For one more than Count

   procedure Make_Room (Self : in out Table; Count : Natural; Removed : in out Garbage) is
   begin
      if Self.Buckets = null then
         Self.Buckets := new Buckets (Last => Fewest_Buckets - 1);
      elsif Hash_Type (Count) > Self.Buckets.Last then
         Grow (Self, Removed);
      end if;
   end Make_Room;

   procedure Put
     (Self     : in out Table;
      Node     : not null Node_Access;
      Capacity : Positive;
      Removed  : in out Garbage)
   is
      Old : constant Node_Access := Find (Self, Node.Key);
   begin
      if Old /= null then
         Node.Next := Old.Next;
         Unlink (Self, Old, Successor => Node, Removed => Removed);
         Append (Self, Node);
         Remove_Expired (Self, Removed);
      else
         Remove_Expired (Self, Removed);
         Make_Room (Self, Natural'Min (Self.Count, Capacity - 1), Removed);
         if Self.Count >= Capacity then
            Remove_Oldest (Self, Removed);
         end if;
         Link (Self, Node);
      end if;
   end Put;

   procedure Remove (Self : in out Table; Key : Key_Type; Removed : in out Garbage) is
      Node : constant Node_Access := Find (Self, Key);
   begin
      if Node /= null then
         Unlink (Self, Node, Successor => Node.Next, Removed => Removed);
         Self.Count := Self.Count - 1;
      end if;
   end Remove;

end Appserver.Cache_Tables;
