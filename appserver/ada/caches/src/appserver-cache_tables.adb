--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

pragma Ada_2022;

with Ada.Unchecked_Conversion;
with Ada.Unchecked_Deallocation;
with System.Atomic_Operations.Exchange;
with System.Atomic_Operations.Modular_Arithmetic;

package body Appserver.Cache_Tables is

   use Ada.Real_Time;
   use type Interfaces.Unsigned_64;

   package Instants is new System.Atomic_Operations.Exchange (Shared_Instant);
   package Counting is new System.Atomic_Operations.Modular_Arithmetic (User_Count);

   procedure Free_Node is new Ada.Unchecked_Deallocation (Node, Node_Access);
   procedure Free_List is new Ada.Unchecked_Deallocation (Ghosts, Ghosts_Access);
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

   --  A release store: a task that sees the value also sees everything that was stored before it.
   --  Ada's atomic assignment would be sequentially consistent, which costs as much as the lock.
   --  Writers do not need this consistency, since they hold the lock.

   procedure Atomic_Store
     (Target : System.Address; Value : Interfaces.Unsigned_32; Order : Integer)
     with Import, Convention => Intrinsic, External_Name => "__atomic_store_4";
   procedure Atomic_Store
     (Target : System.Address; Value : Interfaces.Unsigned_64; Order : Integer)
     with Import, Convention => Intrinsic, External_Name => "__atomic_store_8";

   Relaxed_Order : constant := 0;
   Release_Order : constant := 3;
   --  Memory orders of GCC's built-in functions

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
     (Key : Key_Type; Element : Element_Type; Hash : Hash_Type; Is_Timed : Boolean)
      return not null Node_Access
   is
      Result : Node_Access := new Node (Is_Timed);
   begin
      Result.Key := Key;
      Result.Element := Element;
      Result.Hash := Hash;
      Atomic_Store (Result.Users'Address, Interfaces.Unsigned_32 (1), Release_Order);
      return Result;
   exception
      when others =>
         Free_Node (Result);
         raise;
   end New_Node;

   function To_Instant (Time : Ada.Real_Time.Time) return Instant is
     (Instant'Integer_Value (To_Duration (Time - Time_Of (0, Time_Span_Zero))));

   --  Does not overflow, since times to live are at most 25 days

   function Expiry (Node : not null Node_Access) return Instant is
     (if Node.Idle = 0 then Node.Deadline
      else Instant'Min (Node.Deadline, Instant (Node.Accessed) + Node.Idle));

   procedure Count_Read (Node : not null Node_Access) is
      Reads : constant Read_Count := Node.Reads;
   begin
      if Reads < Max_Reads then
         Node.Reads := Reads + 1;
      end if;
   end Count_Read;

   procedure Set_Accessed (Node : not null Node_Access; Now : Instant) is
   begin
      Atomic_Store (Node.Accessed'Address, Interfaces.Unsigned_64 (Now), Relaxed_Order);
   end Set_Accessed;

   procedure Take_Refresh
     (Node : not null Node_Access; Now, Interval : Instant; Is_Taken : out Boolean)
   is
      Due : aliased Shared_Instant := Node.Refresh_Due;
   begin
      Is_Taken := Instant (Due) <= Now
        and then Instants.Atomic_Compare_And_Exchange
          (Node.Refresh_Due, Due, Shared_Instant (Now + Interval));
   end Take_Refresh;

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

   --  Tasks pin only nodes that are in the table. So the count of an unlinked node that is not
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

   ------------
   -- Report --
   ------------

   procedure Add
     (Report : in out Cache_Tables.Report; Node : not null Node_Access; Cause : Removal_Cause) is
   begin
      if Report.Is_Enabled then
         Pin (Node);
         Node.Cause := Cause;
         Node.Older := null;
         if Report.Last = null then
            Report.First := Node;
         else
            Report.Last.Older := Node;
         end if;
         Report.Last := Node;
      end if;
   end Add;

   procedure Take_First (Self : in out Report; Node : out Node_Access) is
   begin
      Node := Self.First;
      if Node /= null then
         Self.First := Node.Older;
         if Self.First = null then
            Self.Last := null;
         end if;
      end if;
   end Take_First;

   ------------
   -- Queues --
   ------------

   procedure Append (Self : in out Order; Node : not null Node_Access) is
      Queue : Cache_Tables.Queue renames Self.Queues (Node.Queue);
   begin
      Node.Older := Queue.Newest;
      Node.Newer := null;
      if Queue.Newest = null then
         Queue.Oldest := Node;
      else
         Queue.Newest.Newer := Node;
      end if;
      Queue.Newest := Node;
   end Append;

   procedure Unlink (Self : in out Order; Node : not null Node_Access) is
      Queue : Cache_Tables.Queue renames Self.Queues (Node.Queue);
   begin
      if Node.Older = null then
         Queue.Oldest := Node.Newer;
      else
         Node.Older.Newer := Node.Newer;
      end if;
      if Node.Newer = null then
         Queue.Newest := Node.Older;
      else
         Node.Newer.Older := Node.Older;
      end if;
   end Unlink;

   --  Returns the number of the set for a hash. Mixes the hash again (Appleby, MurmurHash3), since
   --  the low bits of the hashes of consecutive keys may be distributed unevenly.

   function Set_Of (Hash, Last : Hash_Type) return Hash_Type is
      Product : constant Hash_Type := (Hash xor Hash / 2 ** 15) * 16#85EB_CA6B#;
   begin
      return (Product xor Product / 2 ** 13) and Last;
   end Set_Of;

   --  Returns True if the hash belongs to one of the latest evictions. The number of evictions that
   --  count is the current number of nodes.

   function Is_Ghost (Self : Order; Hash : Hash_Type) return Boolean is
     (Self.Ghosts /= null
      and then
        (for some Ghost of Self.Ghosts.List (Set_Of (Hash, Self.Ghosts.Last)) =>
           Ghost.Hash = Hash
           and then Ghost.Number /= 0
           and then Self.Evictions - Ghost.Number <= Eviction_Number (Self.Count)));

   function First_Queue
     (Self : Order; Node : not null Node_Access; Replaced : Node_Access) return Queue_Kind is
     (if Node.Weight = 0 then Weightless
      elsif Replaced /= null and then Replaced.Queue /= Weightless then Replaced.Queue
      elsif Is_Ghost (Self, Node.Hash) then Main
      else Small);

   procedure Remember (Self : in out Order; Victim : not null Node_Access) is
   begin
      if Victim.Queue = Small and then Self.Ghosts /= null then
         Self.Evictions := Self.Evictions + 1;
         declare
            Set : Ghost_Set renames Self.Ghosts.List (Set_Of (Victim.Hash, Self.Ghosts.Last));
         begin
            Set := [Ghost'(Victim.Hash, Self.Evictions), Set (1), Set (2), Set (3)];
         end;
      end if;
   end Remember;

   function Is_Full (Self : Order; Weight : Natural; Capacity : Positive) return Boolean is
     (Total_Weight (Self.Weight) + Total_Weight (Weight) > Total_Weight (Capacity));

   Small_Fraction : constant := 10;

   Max_Turns : constant := 4_000;
   --  Limits the time of an eviction if almost all nodes have been read

   procedure Find_Victim
     (Self : in out Order; Capacity : Positive; Victim : out not null Node_Access)
   is
      Is_From_Small : Boolean;
      First         : Node_Access;
   begin
      for Turn in 0 .. Max_Turns loop
         Is_From_Small := Self.Queues (Main).Oldest = null
           or else (Self.Queues (Small).Oldest /= null
                    and then Self.Small_Weight >= Total_Weight (Capacity / Small_Fraction));
         First := Self.Queues (if Is_From_Small then Small else Main).Oldest;
         exit when First.Reads <= (if Is_From_Small then 1 else 0) or else Turn = Max_Turns;
         Unlink (Self, First);
         if Is_From_Small then
            First.Queue := Main;
            First.Reads := 0;
            Self.Small_Weight := Self.Small_Weight - Total_Weight (First.Weight);
         else
            First.Reads := First.Reads - 1;
         end if;
         Append (Self, First);
      end loop;
      Victim := First;
   end Find_Victim;

   ------------
   -- Ghosts --
   ------------

   Min_Sets : constant := 16;
   --  The capacity for ghosts is at least twice the number of nodes, since full sets drop some
   --  ghosts

   Max_Sets : constant := 2 ** 28;

   function Lacking_Ghosts (Self : Order; Capacity : Positive) return Natural is
      Sets : constant Natural := Self.Sets;
   begin
      return
        (if Capacity = Positive'Last then 0
         elsif Sets = 0 then Min_Sets
         elsif Self.Count > 2 * (Sets - 1) and then Sets < Max_Sets then 2 * Sets
         else 0);
   end Lacking_Ghosts;

   function New_Ghosts (Size : Positive) return not null Ghosts_Access is
     (new Ghosts (Last => Hash_Type (Size - 1)));

   procedure Exchange (Self : in out Order; Ghosts : in out Ghosts_Access) is
      Old : constant Ghosts_Access := Self.Ghosts;
   begin
      if Old = null or else Old.Last < Ghosts.Last then
         Self.Ghosts := Ghosts;
         Self.Sets   := Natural (Ghosts.Last) + 1;
         Ghosts := Old;
      end if;
   end Exchange;

   procedure Free (Ghosts : in out Ghosts_Access) is
   begin
      Free_List (Ghosts);
   end Free;

   procedure Free_Ghosts (Self : in out Order) is
   begin
      Self.Sets := 0;
      Free_List (Self.Ghosts);
   end Free_Ghosts;

   ---------------
   -- Schedules --
   ---------------

   procedure Append_To
     (Self : in out Order; Number : Schedule_Number; Node : not null Node_Access)
   is
      Schedule : Queue renames Self.Schedules (Number);
   begin
      Node.Schedule := Number;
      Node.Earlier := Schedule.Newest;
      Node.Later := null;
      if Schedule.Newest = null then
         Schedule.Oldest := Node;
      else
         Schedule.Newest.Later := Node;
      end if;
      Schedule.Newest := Node;
   end Append_To;

   procedure Unschedule (Self : in out Order; Node : not null Node_Access) is
      Schedule : Queue renames Self.Schedules (Node.Schedule);
   begin
      if Node.Schedule /= Unscheduled then
         if Node.Earlier = null then
            Schedule.Oldest := Node.Later;
         else
            Node.Earlier.Later := Node.Later;
         end if;
         if Node.Later = null then
            Schedule.Newest := Node.Earlier;
         else
            Node.Later.Earlier := Node.Earlier;
         end if;
         Node.Schedule := Unscheduled;
      end if;
   end Unschedule;

   --  Return the number of zeros above the highest 1, or below the lowest 1

   function Leading_Zeros (Value : Interfaces.Unsigned_64) return Integer
     with Import, Convention => Intrinsic, External_Name => "__builtin_clzll";
   function Trailing_Zeros (Value : Interfaces.Unsigned_64) return Integer
     with Import, Convention => Intrinsic, External_Name => "__builtin_ctzll";

   procedure Add_To_Heap (Self : in out Order; Node : not null Node_Access; Time : Instant) is
      Number : constant Schedule_Number :=
        (if Time <= Self.Heap_Time then 0
         else Schedule_Number
           (64 - Leading_Zeros
              (Interfaces.Unsigned_64 (Time) xor Interfaces.Unsigned_64 (Self.Heap_Time))));
   begin
      Node.Scheduled := Time;
      Append_To (Self, Number, Node);
      Self.Used := Self.Used or Interfaces.Shift_Left (1, Natural (Number));
   end Add_To_Heap;

   procedure Schedule (Self : in out Order; Node : not null Node_Access) is
      Number : constant Schedule_Number := Node.Schedule;
   begin
      if Number = In_Order then
         Append_To (Self, In_Order, Node);
      elsif Expiry (Node) /= Never then
         Add_To_Heap (Self, Node, Expiry (Node));
      end if;
   end Schedule;

   procedure Distribute (Self : in out Order; Number : Schedule_Number) is
      Node : Node_Access := Self.Schedules (Number).Oldest;
      Next : Node_Access;
   begin
      Self.Schedules (Number) := (null, null);
      while Node /= null loop
         Next := Node.Later;
         Add_To_Heap (Self, Node, Node.Scheduled);
         Node := Next;
      end loop;
   end Distribute;

   --  Finds a node whose scheduled time has passed

   procedure Find_Due (Self : in out Order; Now : Instant; Found : out Node_Access) is
      Number   : Schedule_Number;
      Bit      : Interfaces.Unsigned_64;
      Earliest : Instant;
   begin
      Found := Self.Schedules (In_Order).Oldest;
      if Found /= null and then Found.Deadline > Now then
         Found := null;
      end if;
      while Found = null and then Self.Used /= 0 loop
         Number := Schedule_Number (Trailing_Zeros (Self.Used));
         Bit := Interfaces.Shift_Left (1, Natural (Number));
         if Self.Schedules (Number).Oldest = null then
            Self.Used := Self.Used and not Bit;
         elsif Number = 0 then
            Found := Self.Schedules (0).Oldest;
         else
            --  The earliest time that a node in this list can have

            Earliest := Instant
              ((Interfaces.Unsigned_64 (Self.Heap_Time) or (Bit / 2 - 1)) + 1);
            exit when Earliest > Now;
            Self.Heap_Time := Earliest;
            Self.Used := Self.Used and not Bit;
            Distribute (Self, Number);
         end if;
      end loop;
   end Find_Due;

   procedure Find_Expired (Self : in out Order; Now : Instant; Found : out Node_Access) is
   begin
      loop
         Find_Due (Self, Now, Found);

         --  Now may be earlier than the time of the heap, because other tasks wrote since it was
         --  read. A node that expires before the heap's time would be scheduled again as due.

         exit when Found = null or else Expiry (Found) <= Instant'Max (Now, Self.Heap_Time);
         Unschedule (Self, Found);  --  the node was read
         Schedule (Self, Found);
      end loop;
   end Find_Expired;

   -----------
   -- Order --
   -----------

   procedure Add
     (Self : in out Order; Node : not null Node_Access; Replaced : Node_Access := null) is
   begin
      Node.Queue := First_Queue (Self, Node, Replaced);
      if Replaced /= null then
         Node.Reads := Replaced.Reads;
         Count_Read (Node);
      end if;
      Append (Self, Node);
      if Node.Queue = Small then
         Self.Small_Weight := Self.Small_Weight + Total_Weight (Node.Weight);
      end if;
      Self.Weight := Self.Weight + Atomic_Weight (Node.Weight);
      Self.Count := Self.Count + 1;
      if Node.Is_Timed then
         Schedule (Self, Node);
      end if;
   end Add;

   procedure Remove (Self : in out Order; Node : not null Node_Access) is
   begin
      Unlink (Self, Node);
      if Node.Queue = Small then
         Self.Small_Weight := Self.Small_Weight - Total_Weight (Node.Weight);
      end if;
      Self.Weight := Self.Weight - Atomic_Weight (Node.Weight);
      Self.Count := Self.Count - 1;
      if Node.Is_Timed then
         Unschedule (Self, Node);
      end if;
   end Remove;

   procedure Clear (Self : in out Order; First : out Node_Access) is
      Last : Node_Access := null;
   begin
      First := null;
      for Queue of Self.Queues loop
         if Queue.Oldest /= null then
            if Last = null then
               First := Queue.Oldest;
            else
               Last.Newer := Queue.Oldest;
            end if;
            Last := Queue.Newest;
         end if;
         Queue := (null, null);
      end loop;
      Self.Schedules := [others => (null, null)];
      Self.Used := 0;
      Self.Small_Weight := 0;
      Self.Weight := 0;
      Self.Count := 0;
   end Clear;

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

   procedure Unlink_From_Buckets (Self : in out Table; Node, Successor : Node_Access) is
      Buckets : Buckets_Access := Self.Buckets;
      Is_Done : Boolean;
   begin
      loop
         Unlink_From_Bucket (Node, Successor, Buckets, Is_Done);
         exit when Is_Done;
         Buckets := Buckets.Below;
      end loop;
   end Unlink_From_Buckets;

   procedure Add_To_Bucket (Node : not null Node_Access; Buckets : not null Buckets_Access) is
      Bucket : constant Hash_Type := Node.Hash and Buckets.Last;
   begin
      Store (Node.Next (Buckets.Chains)'Address, Buckets.First (Bucket));
      Store (Buckets.First (Bucket)'Address, Node);
   end Add_To_Bucket;

   procedure Remove
     (Self    : in out Table;
      Node    : not null Node_Access;
      Cause   : Removal_Cause;
      Removed : in out Garbage;
      Report  : in out Cache_Tables.Report) is
   begin
      Unlink_From_Buckets (Self, Node, Successor => Node.Next (Self.Buckets.Chains));
      Remove (Self.Order, Node);
      Count_Change (Self);
      Add (Report, Node, Cause);
      Add (Removed, Node);
   end Remove;

   procedure Evict
     (Self     : in out Table;
      Weight   : Natural;
      Capacity : Positive;
      Removed  : in out Garbage;
      Report   : in out Cache_Tables.Report)
   is
      Victim : Node_Access;
   begin
      while Is_Full (Self.Order, Weight, Capacity) loop
         Find_Victim (Self.Order, Capacity, Victim);
         Remember (Self.Order, Victim);
         Remove (Self, Victim, Size, Removed, Report);
      end loop;
   end Evict;

   --  Replaces a node. Evicts other nodes while neither the old nor the new node is in the order.

   procedure Replace
     (Self      : in out Table;
      Old, Node : not null Node_Access;
      Capacity  : Positive;
      Removed   : in out Garbage;
      Report    : in out Cache_Tables.Report) is
   begin
      Node.Number := Change_Number (Self.Changes) + 1;
      Store (Node.Next (Self.Buckets.Chains)'Address, Old.Next (Self.Buckets.Chains));
      Unlink_From_Buckets (Self, Old, Successor => Node);
      Count_Change (Self);
      Remove (Self.Order, Old);
      Evict (Self, Node.Weight, Capacity, Removed, Report);
      Add (Self.Order, Node, Replaced => Old);
      Add (Report, Old, Replaced);
      Add (Removed, Old);
   end Replace;

   procedure Add_All (Removed : in out Garbage; Top : Buckets_Access) is
      Buckets : Buckets_Access := Top;
   begin
      while Buckets /= null loop
         Add (Removed, Buckets);
         Buckets := Buckets.Below;
      end loop;
   end Add_All;

   procedure Clear
     (Self    : in out Table;
      Now     : Instant;
      Removed : in out Garbage;
      Report  : in out Cache_Tables.Report)
   is
      Old  : constant Buckets_Access := Self.Buckets;
      Node : Node_Access;
      Next : Node_Access;
   begin
      Self.Buckets := null;
      Clear (Self.Order, Node);
      Count_Change (Self);
      while Node /= null loop
         Next := Node.Newer;
         Add (Report, Node, Cause_Of (Node, Now, Otherwise => Explicit));
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
      Node : Node_Access;
   begin
      if Old /= null then
         Larger.Chains := Old.Chains + 1;
      end if;
      for Queue of Self.Order.Queues loop
         Node := Queue.Oldest;
         while Node /= null loop
            Add_To_Bucket (Node, Larger);
            Node := Node.Newer;
         end loop;
      end loop;
      Self.Buckets := Larger;
      Larger := null;
      Add_All (Removed, Old);
   end Install;

   --  While readers use replaced arrays, both links of each node are in use. So the existing nodes
   --  stay in their arrays, and later nodes are added to the larger array. Each array is at least
   --  twice as large as the next smaller array. So there are few arrays, and the largest soon
   --  contains about half of the nodes.

   procedure Install_Above (Self : in out Table; Larger : in out Buckets_Access) is
   begin
      Larger.Chains := Self.Buckets.Chains;
      Larger.Below := Self.Buckets;
      Self.Buckets := Larger;
      Larger := null;
   end Install_Above;

   -------------
   -- Changes --
   -------------

   --  A put into a full table evicts a node first. Weightless nodes may exceed the capacity.

   function Crowd (Self : Table; Capacity : Positive) return Natural is
     (if Length (Self) > Capacity then Length (Self)
      else Natural'Min (Length (Self), Capacity - 1));

   function Lacking_Buckets
     (Self : Table; Found : Search; Capacity : Positive; May_Replace : Boolean) return Hash_Type is
     (if Self.Buckets = null then Min_Buckets
      elsif Found.Node /= null then 0
      elsif Hash_Type (Crowd (Self, Capacity)) > Self.Buckets.Last
      then Number_Of_Buckets (Room_For => 2 * Length (Self))
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

   function Lacking_Ghosts (Self : Table; Capacity : Positive) return Natural is
     (Lacking_Ghosts (Self.Order, Capacity));

   procedure Exchange (Self : in out Table; Ghosts : in out Ghosts_Access) is
   begin
      Exchange (Self.Order, Ghosts);
   end Exchange;

   procedure Free_Ghosts (Self : in out Table) is
   begin
      Free_Ghosts (Self.Order);
   end Free_Ghosts;

   procedure Put
     (Self        : in out Table;
      Node        : in out Node_Access;
      Found       : Search;
      Capacity    : Positive;
      May_Replace : Boolean;
      Larger      : in out Buckets_Access;
      Removed     : in out Garbage;
      Report      : in out Cache_Tables.Report) is
   begin
      if Found.Node /= null then
         Replace (Self, Found.Node, Node, Capacity, Removed, Report);
      else
         Evict (Self, Node.Weight, Capacity, Removed, Report);
         if Larger /= null then
            Add_Buckets (Self, May_Replace, Larger, Removed);
         end if;
         Node.Number := Change_Number (Self.Changes) + 1;
         Add_To_Bucket (Node, Self.Buckets);
         Add (Self.Order, Node);
         Count_Change (Self);
      end if;
      Node := null;
   end Put;

   procedure Remove
     (Self    : in out Table;
      Found   : Search;
      Cause   : Removal_Cause;
      Removed : in out Garbage;
      Report  : in out Cache_Tables.Report) is
   begin
      if Found.Node /= null then
         Remove (Self, Found.Node, Cause, Removed, Report);
      end if;
   end Remove;

   procedure Remove_Expired
     (Self    : in out Table;
      Now     : Instant;
      Removed : in out Garbage;
      Report  : in out Cache_Tables.Report)
   is
      Node : Node_Access;
   begin
      loop
         Find_Expired (Self.Order, Now, Node);
         exit when Node = null;
         Remove (Self, Node, Expired, Removed, Report);
      end loop;
   end Remove_Expired;

end Appserver.Cache_Tables;
