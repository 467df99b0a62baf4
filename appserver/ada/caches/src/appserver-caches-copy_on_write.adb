--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

pragma Ada_2022;

with Ada.Unchecked_Deallocation;

package body Appserver.Caches.Copy_On_Write is

   use Snapshots;
   use type Tables.Change_Number;
   use type Tables.Removal_Cause;

   Batched  : constant Tables.Change_Number := 0;
   Repeated : constant Tables.Change_Number := Tables.Change_Number'Last;
   --  The component Number of nodes that Put_All is about to put (Batched), and of nodes that a
   --  later node of the same call replaces (Repeated). The Number of any other node is the version
   --  of the snapshot into which the node was put. In a batched node, Older is the node that it
   --  replaces.

   overriding procedure Finalize (Self : in out Snapshot) is
   begin
      Tries.Release (Self.Map);
   end Finalize;

   overriding procedure Finalize (Self : in out Owned_Maps) is
   begin
      Tables.Free_Ghosts (Self.Order);
   end Finalize;

   -------------
   -- Reading --
   -------------

   function Map_Of (Self : Reference) return Tries.Map is
     (if Self.Is_Null then null else Self.Value.Map);

   overriding procedure Look_Up
     (Self     : in out Cache;
      Key      : Key_Type;
      Mode     : Read_Mode;
      Element  : in out Element_Type;
      Is_Found : out Boolean;
      Is_Due   : out Boolean)
   is
      Latest : Snapshots.Reference;
   begin
      Self.Maps.Current.Get (Into => Latest);
      Read_Node
        (Self, Tries.Find (Map_Of (Latest), Key, Tables.Mixed_Hash (Key)), Mode, Element,
         Is_Found, Is_Due);
   end Look_Up;

   overriding procedure Get
     (Self     : in out Cache;
      Key      : Key_Type;
      Element  : in out Element_Type;
      Is_Found : out Boolean)
   is
      Is_Due : Boolean;
   begin
      Look_Up (Self, Key, Read, Element, Is_Found, Is_Due);
   end Get;

   overriding function Length (Self : in out Cache) return Natural is
     (Tables.Count (Self.Maps.Order));

   overriding function Weight (Self : in out Cache) return Natural is
     (Natural (Tables.Weight (Self.Maps.Order)));

   ------------
   -- Writer --
   ------------

   protected body Writer is

      --  Replacing the current snapshot does not free it here, since the caller has a reference

      function Is_Current (Latest : Snapshots.Reference) return Boolean is
        (Version = (if Latest.Is_Null then 0 else Latest.Value.Version));

      procedure Publish (Next : Snapshots.Reference) is
      begin
         Version := Version + 1;
         Next.Variable.Version := Version;
         Owner.Current.Set (Next);
      end Publish;

      procedure Take_Out
        (Node : not null Tables.Node_Access;
         Cause : Tables.Removal_Cause;
         Report : in out Tables.Report) is
      begin
         Tables.Remove (Owner.Order, Node);
         Tables.Add (Report, Node, Cause);
      end Take_Out;

      --  Finds a node other than Replaced

      procedure Find_Victim
        (Capacity : Positive; Replaced : Tables.Node_Access; Victim : out Tables.Node_Access) is
      begin
         Tables.Find_Victim (Owner.Order, Capacity, Victim);
         if Victim = Replaced then
            Tables.Remove (Owner.Order, Replaced);
            Tables.Find_Victim (Owner.Order, Capacity, Victim);
            Tables.Add (Owner.Order, Replaced, Replaced => Replaced);
         end if;
         Tables.Pin (Victim);
      end Find_Victim;

      procedure Commit_Put
        (Latest   : Snapshots.Reference;
         Next     : Snapshots.Reference;
         Change   : in out Caches.Change'Class;
         Replaced : Tables.Node_Access;
         Evicted  : Tables.Node_Access;
         Capacity : Positive;
         Result   : out Commit_Result;
         Is_Put   : out Boolean;
         Victim   : out Tables.Node_Access)
      is
         use type Tables.Total_Weight;
         Leaving : constant Tables.Total_Weight :=
           (if Replaced = null then 0 else Tables.Total_Weight (Replaced.Weight))
           + (if Evicted = null then 0 else Tables.Total_Weight (Evicted.Weight));
      begin
         Result := Outdated;
         Is_Put := False;
         Victim := null;
         if not Is_Current (Latest) then
            return;
         elsif Is_Overtaken (Change, Replaced) then
            Result := Done;
         elsif Tables.Weight (Owner.Order) - Leaving + Tables.Total_Weight (Change.Node.Weight)
           > Tables.Total_Weight (Capacity)
         then
            Result := Full;
            Find_Victim (Capacity, Replaced, Victim);
         else
            if Evicted /= null then
               Tables.Remember (Owner.Order, Evicted);
               Take_Out (Evicted, Tables.Size, Change.Report);
            end if;
            if Replaced /= null then
               Take_Out (Replaced, Tables.Replaced, Change.Report);
            end if;
            Publish (Next);
            Change.Node.Number := Version;
            Tables.Add (Owner.Order, Change.Node, Replaced);
            Result := Done;
            Is_Put := True;
         end if;
      end Commit_Put;

      procedure Commit_All
        (Latest : Snapshots.Reference;
         Next   : Snapshots.Reference;
         Nodes  : Node_List;
         Report : in out Tables.Report;
         Result : out Commit_Result)
      is
         Old : Tables.Node_Access;
      begin
         Result := Outdated;
         if Is_Current (Latest) then
            Publish (Next);
            for Node of Nodes loop
               if Node.Number = Batched then
                  Old := Node.Older;
                  if Old /= null then
                     Take_Out (Old, Tables.Replaced, Report);
                  end if;
                  Node.Number := Version;
                  Tables.Add (Owner.Order, Node, Replaced => Old);
               end if;
            end loop;
            Result := Done;
         end if;
      end Commit_All;

      procedure Commit_Removal
        (Latest : Snapshots.Reference;
         Next   : Snapshots.Reference;
         Node   : Tables.Node_Access;
         Cause  : Tables.Removal_Cause;
         Report : in out Tables.Report;
         Result : out Commit_Result) is
      begin
         Result := Outdated;
         if Is_Current (Latest) then
            if Node /= null then
               if Cause = Tables.Size then
                  Tables.Remember (Owner.Order, Node);
               end if;
               Take_Out (Node, Cause, Report);
               Publish (Next);
            end if;
            Result := Done;
         end if;
      end Commit_Removal;

      procedure Commit_Clear
        (Latest : Snapshots.Reference;
         Now    : Tables.Instant;
         Next   : Snapshots.Reference;
         Report : in out Tables.Report;
         Result : out Commit_Result)
      is
         Node     : Tables.Node_Access;
         Follower : Tables.Node_Access;
      begin
         Result := Outdated;
         if Is_Current (Latest) then
            Tables.Clear (Owner.Order, Node);
            while Node /= null loop
               Follower := Node.Newer;
               Tables.Add
                 (Report, Node, Tables.Cause_Of (Node, Now, Otherwise => Tables.Explicit));
               Node := Follower;
            end loop;
            Publish (Next);
            Result := Done;
         end if;
      end Commit_Clear;

      procedure Find_Expired (Now : Tables.Instant; Node : out Tables.Node_Access) is
      begin
         Tables.Find_Expired (Owner.Order, Now, Node);
         if Node /= null then
            Tables.Pin (Node);
         end if;
      end Find_Expired;

      procedure Exchange (Ghosts : in out Tables.Ghosts_Access) is
      begin
         Tables.Exchange (Owner.Order, Ghosts);
      end Exchange;

   end Writer;

   --------------
   -- Removing --
   --------------

   function New_Snapshot return not null Element_Access is (new Snapshot);

   --  Sets Result if a node was removed, or was no longer in the map. The caller has pinned Node.

   procedure Remove_Node
     (Self   : in out Cache'Class;
      Change : in out Caches.Change'Class;
      Node   : not null Tables.Node_Access;
      Cause  : Tables.Removal_Cause)
   is
      Latest : Snapshots.Reference;
      Next   : Snapshots.Reference;
      Result : Commit_Result := Outdated;
   begin
      while Result = Outdated loop
         Self.Maps.Current.Get (Into => Latest);
         exit when not Tries.Has (Map_Of (Latest), Node);
         Next.Create (New_Snapshot'Access);
         Tries.Remove (Map_Of (Latest), Node, Next.Variable.Map);
         Self.Maps.Writer.Commit_Removal (Latest, Next, Node, Cause, Change.Report, Result);
      end loop;
   end Remove_Node;

   --  Does not take the lock if the nodes of the cache store no times

   procedure Remove_Expired (Self : in out Cache'Class; Change : in out Caches.Change'Class) is
      Node : Tables.Node_Access;
   begin
      while Self.Is_Timed loop
         Self.Maps.Writer.Find_Expired (Change.Now, Node);
         exit when Node = null;
         Remove_Node (Self, Change, Node, Tables.Expired);
         Tables.Release (Node);
      end loop;
   end Remove_Expired;

   overriding procedure Remove_Expired (Self : in out Cache) is
      Change : Caches.Change (Remove_Expired);
   begin
      pragma Abort_Defer;
      Start (Change, Self);
      Remove_Expired (Self, Change);
      Report_Removals (Self, Change);
   end Remove_Expired;

   --  Removes the node of Key. If Orders is True, enters the writer's protected action even if
   --  there is no node, since a load of Key may be about to put its element.

   procedure Remove_Key
     (Self    : in out Cache'Class;
      Change  : in out Caches.Change'Class;
      Key     : Key_Type;
      Cause   : Tables.Removal_Cause;
      Orders  : Boolean)
   is
      Latest : Snapshots.Reference;
      Next   : Snapshots.Reference;
      Node   : Tables.Node_Access;
      Result : Commit_Result := Outdated;
   begin
      while Result = Outdated loop
         Self.Maps.Current.Get (Into => Latest);
         Node := Tries.Find (Map_Of (Latest), Key, Change.Found.Hash);
         exit when Node = null and then not Orders;
         Next.Create (New_Snapshot'Access);
         if Node /= null then
            Tries.Remove (Map_Of (Latest), Node, Next.Variable.Map);
         end if;
         Self.Maps.Writer.Commit_Removal
           (Latest, Next, Node, Tables.Cause_Of (Node, Change.Now, Otherwise => Cause),
            Change.Report, Result);
      end loop;
   end Remove_Key;

   overriding procedure Remove (Self : in out Cache; Key : Key_Type) is
      Change      : Caches.Change (Remove);
      Was_Loading : Boolean;
   begin
      pragma Abort_Defer;
      Forget_Load (Self, Key, Was_Loading);
      Start (Change, Self, Key);
      Remove_Key (Self, Change, Key, Tables.Explicit, Orders => Was_Loading);
      Report_Removals (Self, Change);
   end Remove;

   overriding procedure Clear (Self : in out Cache) is
      Change      : Caches.Change (Clear);
      Was_Loading : Boolean;
      Latest      : Snapshots.Reference;
      Next        : Snapshots.Reference;
      Result      : Commit_Result := Outdated;
   begin
      pragma Abort_Defer;
      Forget_Loads (Self, Was_Loading);
      Start (Change, Self);
      while Result = Outdated loop
         Self.Maps.Current.Get (Into => Latest);
         Next.Create (New_Snapshot'Access);
         Self.Maps.Writer.Commit_Clear (Latest, Change.Now, Next, Change.Report, Result);
      end loop;
      Report_Removals (Self, Change);
   end Clear;

   -------------
   -- Putting --
   -------------

   procedure Add_Ghosts (Self : in out Cache'Class; Change : in out Caches.Change'Class) is
   begin
      Change.Lacking_Ghosts := Tables.Lacking_Ghosts (Self.Maps.Order, Self.Capacity);
      if Change.Lacking_Ghosts > 0 then
         Allocate (Change);
         Self.Maps.Writer.Exchange (Change.Ghosts);
      end if;
   end Add_Ghosts;

   --  Puts Change.Node

   procedure Put_Node
     (Self : in out Cache'Class; Change : in out Caches.Change'Class; Is_Put : out Boolean)
   is
      Latest   : Snapshots.Reference;
      Next     : Snapshots.Reference;
      Replaced : Tables.Node_Access;
      Victim   : Tables.Node_Access;
      More     : Tables.Node_Access;
      Without  : Tries.Map;
      Result   : Commit_Result := Outdated;
   begin
      Add_Ghosts (Self, Change);
      while Result /= Done loop
         Self.Maps.Current.Get (Into => Latest);
         Next.Create (New_Snapshot'Access);
         Tries.Put (Map_Of (Latest), Change.Node, Next.Variable.Map, Replaced);
         Self.Maps.Writer.Commit_Put
           (Latest, Next, Change, Replaced, null, Self.Capacity, Result, Is_Put, Victim);
         if Result = Full then
            --  In most cases, this victim is the only one to evict
            Tries.Remove (Next.Value.Map, Victim, Without);
            Tries.Release (Next.Variable.Map);
            Next.Variable.Map := Without;
            Self.Maps.Writer.Commit_Put
              (Latest, Next, Change, Replaced, Victim, Self.Capacity, Result, Is_Put, More);
            if Result = Full then
               Remove_Node (Self, Change, Victim, Tables.Size);
               Tables.Release (More);
            end if;
            Tables.Release (Victim);
         end if;
      end loop;
   end Put_Node;

   procedure Put_Change
     (Self   : in out Cache'Class;
      Key    : Key_Type;
      Change : in out Caches.Change'Class;
      Is_Put : out Boolean) is
   begin
      Remove_Expired (Self, Change);
      if Is_Too_Heavy (Change, Self.Capacity) then
         Is_Put := Change.Load = null or else Change.Load.Is_Fresh;
         if Is_Put then
            Remove_Key (Self, Change, Key, Tables.Replaced, Orders => True);
            Report_Removals (Self, Change);
            Report_Too_Heavy (Self, Change);
         end if;
      else
         Put_Node (Self, Change, Is_Put);
      end if;
      Report_Removals (Self, Change);
   end Put_Change;

   overriding procedure Put_Timed
     (Self : in out Cache; Key : Key_Type; Element : Element_Type; Time_To_Live : Milliseconds)
   is
      Change  : Caches.Change (Put);
      Ignored : Boolean;
   begin
      pragma Abort_Defer;
      Forget_Load (Self, Key);
      Start (Change, Self, Key, Element, Time_To_Live);
      Put_Change (Self, Key, Change, Ignored);
   end Put_Timed;

   overriding procedure Put (Self : in out Cache; Key : Key_Type; Element : Element_Type) is
   begin
      Put_Timed (Self, Key, Element, Forever);
   end Put;

   overriding procedure Put_Loaded
     (Self    : in out Cache;
      Key     : Key_Type;
      Element : Element_Type;
      Load    : not null access constant Pending_Load;
      Is_Put  : out Boolean)
   is
      Change : Caches.Change (Put);
   begin
      pragma Abort_Defer;
      Change.Load := Load.all'Unchecked_Access;
      Start (Change, Self, Key, Element);
      Put_Change (Self, Key, Change, Is_Put);
   end Put_Loaded;

   --------------------------
   -- Putting many entries --
   --------------------------

   type Node_List_Access is access Node_List;

   procedure Free is new Ada.Unchecked_Deallocation (Node_List, Node_List_Access);

   type Batch is new Ada.Finalization.Limited_Controlled with record
      Nodes : Node_List_Access := null;
   end record;

   overriding procedure Finalize (Self : in out Batch);

   overriding procedure Finalize (Self : in out Batch) is
   begin
      if Self.Nodes /= null then
         for Node of Self.Nodes.all loop
            Tables.Release (Node);
         end loop;
         Free (Self.Nodes);
      end if;
   end Finalize;

   procedure Start_Put
     (Self    : Cache'Class;
      Key     : Key_Type;
      Element : Element_Type;
      Node    : out Tables.Node_Access)
   is
      Change : Caches.Change (Put);
      pragma Warnings (Off, Change);  --  finalized
   begin
      Start (Change, Self, Key, Element);
      Node := Change.Node;
      Change.Node := null;
   end Start_Put;

   procedure Fill
     (Self  : in out Cache'Class;
      Nodes : in out Node_List;
      Make  : not null access procedure
        (Number : Positive; Key : out Key_Type; Element : out Element_Type))
   is
      Key     : Key_Type;
      Element : Element_Type;
   begin
      for Number in Nodes'Range loop
         Make (Number, Key, Element);
         Start_Put (Self, Key, Element, Nodes (Number));
      end loop;
   end Fill;

   --  Sets Next to a map with all nodes

   procedure Put_Batch (Nodes : Node_List; Latest : Reference; Next : in out Reference) is
      Replaced : Tables.Node_Access;
      Changed  : Tries.Map;
   begin
      Next.Create (New_Snapshot'Access);
      Tries.Add_Reference (Map_Of (Latest));
      Next.Variable.Map := Map_Of (Latest);
      for Node of Nodes loop
         Node.Number := Batched;
         Tries.Put (Next.Value.Map, Node, Changed, Replaced);
         Tries.Release (Next.Variable.Map);
         Next.Variable.Map := Changed;
         Node.Older := Replaced;
         if Replaced /= null and then Replaced.Number = Batched then
            Replaced.Number := Repeated;
            Node.Older := Replaced.Older;
         end if;
      end loop;
   end Put_Batch;

   procedure Put_At_Once (Self : in out Cache'Class; Nodes : Node_List) is
      Change : Caches.Change (Put);
      Latest : Reference;
      Next   : Reference;
      Result : Commit_Result := Outdated;
   begin
      Start (Change, Self);
      Remove_Expired (Self, Change);
      while Result = Outdated loop
         Self.Maps.Current.Get (Into => Latest);
         Put_Batch (Nodes, Latest, Next);
         Self.Maps.Writer.Commit_All (Latest, Next, Nodes, Change.Report, Result);
      end loop;
      Report_Removals (Self, Change);
   end Put_At_Once;

   procedure Put_In_Turn (Self : in out Cache'Class; Nodes : in out Node_List) is
      Ignored : Boolean;
   begin
      for Node of Nodes loop
         declare
            Change : Caches.Change (Put);
         begin
            Start (Change, Self, Node.Key);
            Change.Node := Node;
            Node := null;
            Put_Change (Self, Change.Node.Key, Change, Ignored);
         end;
      end loop;
   end Put_In_Turn;

   procedure Put_All
     (Self  : in out Cache;
      Count : Natural;
      Make  : not null access procedure
        (Number : Positive; Key : out Key_Type; Element : out Element_Type))
   is
      Batch : Copy_On_Write.Batch;
   begin
      pragma Abort_Defer;
      Batch.Nodes := new Node_List'(1 .. Count => null);
      Fill (Self, Batch.Nodes.all, Make);
      for Node of Batch.Nodes.all loop
         Forget_Load (Self, Node.Key);
      end loop;
      if Self.Capacity = Unlimited then
         Put_At_Once (Self, Batch.Nodes.all);
      else
         Put_In_Turn (Self, Batch.Nodes.all);
      end if;
   end Put_All;

end Appserver.Caches.Copy_On_Write;
