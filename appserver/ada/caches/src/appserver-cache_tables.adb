--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

pragma Ada_2022;

with Ada.Unchecked_Conversion;
with Ada.Unchecked_Deallocation;
with Interfaces;
with System.Atomic_Operations.Modular_Arithmetic;

package body Appserver.Cache_Tables is

   use Ada.Real_Time;
   use type Interfaces.Unsigned_64;

   package Counting is new System.Atomic_Operations.Modular_Arithmetic (User_Count);

   procedure Free_Node is new Ada.Unchecked_Deallocation (Node, Node_Access);
   procedure Free_Buckets is new Ada.Unchecked_Deallocation (Buckets, Buckets_Access);

   Min_Buckets : constant := 16;

   --  The application's hashes may be equal in their low bits, so this multiplies them (Knuth,
   --  TAOCP 3, 6.4: multiplicative hashing)

   function Mixed_Hash (Key : Key_Type) return Hash_Type is
      Product : constant Hash_Type := Hash (Key) * 16#9E37_79B1#;
   begin
      return Product xor Hash_Type
        (Interfaces.Shift_Right (Interfaces.Unsigned_32 (Product), 16));
   end Mixed_Hash;

   -------------
   -- Storing --
   -------------

   --  A task that sees the value also sees everything that was stored before it. Ada's atomic
   --  assignment would be sequentially consistent, which is as expensive as the lock. Writers do
   --  not need that, since they hold the lock.

   procedure Atomic_Store
     (Target : System.Address; Value : Interfaces.Unsigned_32; Order : Integer)
     with Import, Convention => Intrinsic, External_Name => "__atomic_store_4";
   procedure Atomic_Store
     (Target : System.Address; Value : Interfaces.Unsigned_64; Order : Integer)
     with Import, Convention => Intrinsic, External_Name => "__atomic_store_8";

   Release_Order : constant := 3;
   --  The memory order __ATOMIC_RELEASE of GCC

   function To_Word is new Ada.Unchecked_Conversion (Node_Access, Interfaces.Unsigned_64);

   procedure Store (Target : System.Address; Node : Node_Access) with Inline_Always;

   procedure Store (Target : System.Address; Node : Node_Access) is
   begin
      Atomic_Store (Target, To_Word (Node), Release_Order);
   end Store;

   ----------
   -- Node --
   ----------

   --  Components are assigned one at a time, since an allocator would leak memory if the evaluation
   --  of its initial value raised an exception

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
      Atomic_Store (Result.Users'Address, Interfaces.Unsigned_32 (1), Release_Order);
      return Result;
   exception
      when others =>
         Free_Node (Result);
         raise;
   end New_Node;

   procedure Pin (Node : not null Node_Access) is
   begin
      Counting.Atomic_Add (Node.Users, 1);
   end Pin;

   procedure Release (Node : in out Node_Access) is
      Used : Node_Access := Node;
   begin
      Node := null;
      if Used /= null and then Counting.Atomic_Fetch_And_Subtract (Used.Users, 1) = 1 then
         Free_Node (Used);
      end if;
   end Release;

   -------------
   -- Buckets --
   -------------

   function New_Buckets (Count : Hash_Type) return not null Buckets_Access is
     (new Buckets (Last => Count - 1));

   procedure Free (Self : in out Buckets_Access) is
   begin
      Free_Buckets (Self);
   end Free;

   function Number_Of_Buckets (Room_For : Natural) return Hash_Type is
      Result : Hash_Type := Min_Buckets;
   begin
      while Result < Hash_Type (Room_For) and then Result < 2 ** 30 loop
         Result := 2 * Result;
      end loop;
      return Result;
   end Number_Of_Buckets;

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

   procedure Move_Arrays (From, To : in out Garbage) is
      Old_Buckets : Buckets_Access;
   begin
      while From.Arrays /= null loop
         Old_Buckets := From.Arrays;
         From.Arrays := Old_Buckets.Next_Garbage;
         Add (To, Old_Buckets);
      end loop;
   end Move_Arrays;

   procedure Move_Some (From, To : in out Garbage; Nodes : Natural) is
      Node : Node_Access;
   begin
      for Number in 1 .. Nodes loop
         Node := From.Nodes;
         exit when Node = null;
         From.Nodes := Node.Newer;
         Add (To, Node);
      end loop;
      Move_Arrays (From, To);
   end Move_Some;

   procedure Move (From, To : in out Garbage) is
   begin
      if To.Nodes = null then
         To.Nodes := From.Nodes;
         From.Nodes := null;
      end if;
      Move_Some (From, To, Nodes => Natural'Last);
   end Move;

   --  Tasks only pin nodes that are in the table. So the count of an unlinked node that is not
   --  pinned stays 1.

   procedure Free (Self : in out Garbage) is
      Node        : Node_Access;
      Old_Buckets : Buckets_Access;
   begin
      while Self.Nodes /= null loop
         Node := Self.Nodes;
         Self.Nodes := Node.Newer;
         if Node.Users = 1 then
            Free_Node (Node);
         else
            Release (Node);
         end if;
      end loop;
      while Self.Arrays /= null loop
         Old_Buckets := Self.Arrays;
         Self.Arrays := Old_Buckets.Next_Garbage;
         Free_Buckets (Old_Buckets);
      end loop;
   end Free;

   function Is_Empty (Self : Garbage) return Boolean is
     (Self.Nodes = null and then Self.Arrays = null);

   ---------------
   -- Searching --
   ---------------

   function Find_Hashed (Self : Table; Key : Key_Type; Hash : Hash_Type) return Node_Access
     with Inline_Always;

   function Find_Hashed (Self : Table; Key : Key_Type; Hash : Hash_Type) return Node_Access is
      pragma Suppress (Index_Check);
      pragma Suppress (Access_Check);
      Buckets : Buckets_Access := Self.Buckets;
      Node    : Node_Access := null;
   begin
      while Buckets /= null loop
         Node := Buckets.First (Hash and Buckets.Last);
         while Node /= null and then (Node.Hash /= Hash or else not (Node.Key = Key)) loop
            Node := Node.Next (Buckets.Chains);
         end loop;
         exit when Node /= null;
         Buckets := Buckets.Below;
      end loop;
      return Node;
   end Find_Hashed;

   function Find (Self : Table; Key : Key_Type) return Node_Access is
     (Find_Hashed (Self, Key, Mixed_Hash (Key)));

   --  A node that is linked after Seen was read has a larger number than Seen

   procedure Find (Self : Table; Key : Key_Type; Found : in out Search) is
   begin
      Found.Seen := Change_Number (Self.Changes);
      Found.Node := Find_Hashed (Self, Key, Found.Hash);
   end Find;

   procedure Find_Next (Self : Table; Found : in out Search) is
      Buckets : Buckets_Access := Self.Buckets;
      Node    : Node_Access;
   begin
      Found.Node := null;
      Found.Seen := Change_Number (Self.Changes);
      while Buckets /= null loop
         Node := Buckets.First (Found.Hash and Buckets.Last);
         while Node /= null loop
            if Node.Hash = Found.Hash
              and then Node.Number > Found.After
              and then (Found.Node = null or else Node.Number < Found.Node.Number)
            then
               Found.Node := Node;
            end if;
            Node := Node.Next (Buckets.Chains);
         end loop;
         Buckets := Buckets.Below;
      end loop;
   end Find_Next;

   --  Checks the numbers of the linked nodes first, since a new node may have the address of a node
   --  that was freed after the search

   procedure Update (Self : Table; Found : in out Search; Is_Current : out Boolean) is
      Buckets  : Buckets_Access := Self.Buckets;
      Node     : Node_Access;
      Is_There : Boolean := False;
   begin
      Is_Current := True;
      if Change_Number (Self.Changes) /= Found.Seen then
         while Buckets /= null and then Is_Current loop
            Node := Buckets.First (Found.Hash and Buckets.Last);
            while Node /= null and then Is_Current loop
               if Node.Hash = Found.Hash then
                  Is_Current := Node.Number <= Found.Seen;
                  Is_There := Is_There or else Node = Found.Node;
               end if;
               Node := Node.Next (Buckets.Chains);
            end loop;
            Buckets := Buckets.Below;
         end loop;
         if not Is_There then
            Found.Node := null;
         end if;
      end if;
   end Update;

   -------------
   -- Linking --
   -------------

   --  Must be called after the node is linked or unlinked: a search that sees the number also sees
   --  the change

   procedure Count_Change (Self : in out Table) is
   begin
      Atomic_Store
        (Self.Changes'Address, Interfaces.Unsigned_64 (Self.Changes) + 1, Release_Order);
   end Count_Change;

   --  Readers that are at the unlinked node can continue from there, since its Next does not change

   procedure Unlink_From_Bucket
     (Node      : not null Node_Access;
      Successor : Node_Access;
      Buckets   : not null Buckets_Access;
      Is_Done   : out Boolean)
   is
      Bucket : constant Hash_Type := Node.Hash and Buckets.Last;
      Before : Node_Access := Buckets.First (Bucket);
   begin
      Is_Done := True;
      if Before = Node then
         Store (Buckets.First (Bucket)'Address, Successor);
      else
         while Before /= null and then Before.Next (Buckets.Chains) /= Node loop
            Before := Before.Next (Buckets.Chains);
         end loop;
         if Before = null then
            Is_Done := False;
         else
            Store (Before.Next (Buckets.Chains)'Address, Successor);
         end if;
      end if;
   end Unlink_From_Bucket;

   procedure Unlink
     (Self : in out Table; Node, Successor : Node_Access; Removed : in out Garbage)
   is
      Buckets : Buckets_Access := Self.Buckets;
      Is_Done : Boolean;
   begin
      loop
         Unlink_From_Bucket (Node, Successor, Buckets, Is_Done);
         exit when Is_Done;
         Buckets := Buckets.Below;
      end loop;
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

   procedure Add_To_Bucket (Node : not null Node_Access; Buckets : not null Buckets_Access) is
      Bucket : constant Hash_Type := Node.Hash and Buckets.Last;
   begin
      Store (Node.Next (Buckets.Chains)'Address, Buckets.First (Bucket));
      Store (Buckets.First (Bucket)'Address, Node);
   end Add_To_Bucket;

   procedure Link (Self : in out Table; Node : not null Node_Access) is
   begin
      Node.Number := Change_Number (Self.Changes) + 1;
      Add_To_Bucket (Node, Self.Buckets);
      Append (Self, Node);
      Self.Count := Self.Count + 1;
      Count_Change (Self);
   end Link;

   procedure Replace
     (Self : in out Table; Old, Node : not null Node_Access; Removed : in out Garbage) is
   begin
      Node.Number := Change_Number (Self.Changes) + 1;
      Store (Node.Next (Self.Buckets.Chains)'Address, Old.Next (Self.Buckets.Chains));
      Unlink (Self, Old, Successor => Node, Removed => Removed);
      Append (Self, Node);
      Count_Change (Self);
   end Replace;

   procedure Remove
     (Self : in out Table; Node : not null Node_Access; Removed : in out Garbage) is
   begin
      Unlink (Self, Node, Successor => Node.Next (Self.Buckets.Chains), Removed => Removed);
      Self.Count := Self.Count - 1;
      Count_Change (Self);
   end Remove;

   procedure Add_All (Removed : in out Garbage; Top : Buckets_Access) is
      Buckets : Buckets_Access := Top;
   begin
      while Buckets /= null loop
         Add (Removed, Buckets);
         Buckets := Buckets.Below;
      end loop;
   end Add_All;

   procedure Clear (Self : in out Table; Removed : in out Garbage) is
      Old  : constant Buckets_Access := Self.Buckets;
      Node : Node_Access := Self.Oldest;
      Next : Node_Access;
   begin
      Self.Buckets := null;
      Self.Count := 0;
      Self.Oldest := null;
      Self.Newest := null;
      Count_Change (Self);
      while Node /= null loop
         Next := Node.Newer;
         Add (Removed, Node);
         Node := Next;
      end loop;
      Add_All (Removed, Old);
   end Clear;

   --  Each node has one link for each of the two arrays. So readers can continue in the old array,
   --  whose links do not change (Herbert Xu's resizing, in Paul McKenney, "Is Parallel Programming
   --  Hard", 10.4).

   procedure Install (Self : in out Table; Larger : in out Buckets_Access; Removed : in out Garbage)
   is
      Old  : constant Buckets_Access := Self.Buckets;
      Node : Node_Access := Self.Oldest;
   begin
      if Old /= null then
         Larger.Chains := Old.Chains + 1;
      end if;
      while Node /= null loop
         Add_To_Bucket (Node, Larger);
         Node := Node.Newer;
      end loop;
      Self.Buckets := Larger;
      Larger := null;
      Add_All (Removed, Old);
   end Install;

   --  While readers use replaced arrays, both links of each node are in use. So the existing nodes
   --  stay in their arrays, and the larger array is used for later nodes. Each array is at least
   --  twice as large as the next smaller one. So there are few arrays, and about half of the nodes
   --  are soon in the largest.

   procedure Install_Above (Self : in out Table; Larger : in out Buckets_Access) is
   begin
      Larger.Chains := Self.Buckets.Chains;
      Larger.Below := Self.Buckets;
      Self.Buckets := Larger;
      Larger := null;
   end Install_Above;

   ------------
   -- Expiry --
   ------------

   --  Does not read the clock for nodes that never expire

   function Is_Expired (Node : not null Node_Access) return Boolean is
     (Node.Expires /= Time_Last and then Node.Expires <= Clock);

   function Has_Expired (Self : Table) return Boolean is
     (Self.Oldest /= null and then Is_Expired (Self.Oldest));

   procedure Remove_Expired (Self : in out Table; Removed : in out Garbage) is
      Now : Time;
   begin
      if Has_Expired (Self) then
         Now := Clock;
         while Self.Oldest /= null and then Self.Oldest.Expires <= Now loop
            Remove (Self, Self.Oldest, Removed);
         end loop;
      end if;
   end Remove_Expired;

   -------------
   -- Changes --
   -------------

   function Lacking_Buckets
     (Self : Table; Found : Search; Capacity : Positive; May_Replace : Boolean) return Hash_Type is
     (if Self.Buckets = null then Min_Buckets
      elsif Found.Node /= null then 0
      elsif Hash_Type (Natural'Min (Self.Count, Capacity - 1)) > Self.Buckets.Last
      then Number_Of_Buckets (Room_For => 2 * Self.Count)
      elsif May_Replace and then Self.Buckets.Below /= null then Self.Buckets.Last + 1
      else 0);

   procedure Add_Buckets
     (Self        : in out Table;
      May_Replace : Boolean;
      Larger      : in out Buckets_Access;
      Removed     : in out Garbage)
   is
      Is_First  : constant Boolean := Self.Buckets = null;
      Is_Larger : constant Boolean := Is_First or else Larger.Last > Self.Buckets.Last;
      Is_Single : constant Boolean := Is_First or else Self.Buckets.Below = null;
   begin
      if Is_First
        or else (May_Replace
                 and then (Is_Larger
                           or else (not Is_Single and then Larger.Last = Self.Buckets.Last)))
      then
         Install (Self, Larger, Removed);
      elsif Is_Larger then
         Install_Above (Self, Larger);
      end if;
   end Add_Buckets;

   procedure Put
     (Self        : in out Table;
      Node        : in out Node_Access;
      Found       : Search;
      Capacity    : Positive;
      May_Replace : Boolean;
      Larger      : in out Buckets_Access;
      Removed     : in out Garbage) is
   begin
      if Found.Node /= null then
         Replace (Self, Found.Node, Node, Removed);
      else
         if Self.Count >= Capacity then
            Remove (Self, Self.Oldest, Removed);
         end if;
         if Larger /= null then
            Add_Buckets (Self, May_Replace, Larger, Removed);
         end if;
         Link (Self, Node);
      end if;
      Node := null;
   end Put;

   procedure Remove (Self : in out Table; Found : Search; Removed : in out Garbage) is
   begin
      if Found.Node /= null then
         Remove (Self, Found.Node, Removed);
      end if;
   end Remove;

   -------------
   -- Copying --
   -------------

   procedure Copy (From : Table; To : in out Table; Room_For : Natural) is
      Node : Node_Access := From.Oldest;
   begin
      while Node /= null and then Is_Expired (Node) loop
         Node := Node.Newer;
      end loop;
      To.Buckets := New_Buckets (Number_Of_Buckets (Room_For));
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

end Appserver.Cache_Tables;
