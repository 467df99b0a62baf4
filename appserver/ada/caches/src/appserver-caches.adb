--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

pragma Ada_2022;

with Ada.Unchecked_Deallocation;
with System.Atomic_Operations.Modular_Arithmetic;

package body Appserver.Caches is

   use Ada.Real_Time;
   use Appserver.Counters;
   use Load_References;

   -------------
   -- Options --
   -------------

   procedure Free is new Ada.Unchecked_Deallocation (Settings, Settings_Access);

   overriding procedure Finalize (Self : in out Owned_Settings) is
   begin
      Free (Self.Settings);
   end Finalize;

   procedure Configure (Self : in out Cache'Class; Options : Cache_Options) is
   begin
      if Self.Owned.Settings /= null or else Self.Length > 0 then
         raise Misuse_Error with "Configure must be called only once, before the cache is used";
      end if;
      Self.Owned.Settings := new Settings;
      Self.Owned.Settings.Options := Options;
      Self.Is_Timed := Self.Is_Timed
        or else Options.Expire_After_Access /= Forever
        or else Options.Refresh_After_Write /= Forever
        or else Options.Time_To_Live_Of /= null;
      Self.Is_Plain :=
        Self.Is_Plain and then not Self.Is_Timed and then not Options.Records_Statistics;
   end Configure;

   --  Returns True if reads are counted; False if the cache has not been configured

   function Records_Statistics (Self : Cache'Class) return Boolean is
     (Self.Owned.Settings /= null and then Self.Owned.Settings.Options.Records_Statistics);

   function Statistics (Self : Cache'Class) return Cache_Statistics is
     (if not Records_Statistics (Self) then (others => 0)
      else
        (Hits           => Event_Count (Self.Owned.Settings.Hits.Value),
         Misses         => Event_Count (Self.Owned.Settings.Misses.Value),
         Loads          => Event_Count (Self.Owned.Settings.Loads.Value),
         Load_Failures  => Event_Count (Self.Owned.Settings.Failures.Value),
         Evictions      => Event_Count (Self.Owned.Settings.Evictions.Value),
         Evicted_Weight => Event_Count (Self.Owned.Settings.Evicted.Value),
         Expirations    => Event_Count (Self.Owned.Settings.Expirations.Value)));

   procedure Count_Load (Self : Cache'Class; Has_Failed : Boolean) is
   begin
      if Records_Statistics (Self) then
         if Has_Failed then
            Self.Owned.Settings.Failures.Increment;
         else
            Self.Owned.Settings.Loads.Increment;
         end if;
      end if;
   end Count_Load;

   function Clock (Self : Cache'Class) return Tables.Instant is
     (Tables.To_Instant
        (if Self.Owned.Settings = null or else Self.Owned.Settings.Options.Clock = null
         then Ada.Real_Time.Clock
         else Self.Owned.Settings.Options.Clock.all));

   function Now (Self : Cache'Class) return Tables.Instant is
     (if Self.Is_Timed then Clock (Self) else 0);

   function To_Instant (Time : Milliseconds) return Tables.Instant is
     (if Time = Forever then 0 else Tables.Instant (Time) * 1_000_000);

   -------------
   -- Reading --
   -------------

   procedure Look_Up
     (Self     : in out Cache;
      Key      : Key_Type;
      Mode     : Read_Mode;
      Element  : in out Element_Type;
      Is_Found : out Boolean;
      Is_Due   : out Boolean)
   is
      pragma Unreferenced (Mode);
   begin
      Cache'Class (Self).Get (Key, Element, Is_Found);
      Is_Due := False;
   end Look_Up;

   procedure Read_Times
     (Self     : Cache'Class;
      Node     : not null Tables.Node_Access;
      Mode     : Read_Mode;
      Is_Found : out Boolean;
      Is_Due   : out Boolean)
   is
      Time     : constant Tables.Instant := Clock (Self);
      Interval : Tables.Instant;
   begin
      Is_Found := Tables.Expiry (Node) > Time;
      Is_Due := False;
      if Is_Found and then Mode /= Peek and then Node.Idle > 0 then
         Tables.Set_Accessed (Node, Time);
      end if;
      if Is_Found and then Mode = Read_Or_Refresh and then Self.Owned.Settings /= null then
         Interval := To_Instant (Self.Owned.Settings.Options.Refresh_After_Write);
         if Interval > 0 then
            Tables.Take_Refresh (Node, Time, Interval, Is_Due);
         end if;
      end if;
   end Read_Times;

   procedure Read_Node
     (Self     : Cache'Class;
      Node     : Tables.Node_Access;
      Mode     : Read_Mode;
      Element  : in out Element_Type;
      Is_Found : out Boolean;
      Is_Due   : out Boolean) is
   begin
      Is_Found := Node /= null;
      Is_Due := False;
      if Is_Found and then Node.Is_Timed then
         Read_Times (Self, Node, Mode, Is_Found, Is_Due);
      end if;
      if Is_Found and then Mode /= Peek and then Self.Capacity /= Unlimited then
         Tables.Count_Read (Node);
      end if;
      if Mode /= Peek and then Records_Statistics (Self) then
         if Is_Found then
            Self.Owned.Settings.Hits.Increment;
         else
            Self.Owned.Settings.Misses.Increment;
         end if;
      end if;
      if Is_Found then
         Element := Node.Element;
      end if;
   end Read_Node;

   --  Nodes without times that have been put before this call never expire

   procedure Put
     (Self         : in out Cache'Class;
      Key          : Key_Type;
      Element      : Element_Type;
      Time_To_Live : Milliseconds) is
   begin
      if not Self.Is_Timed then
         Self.Is_Timed := True;
         Self.Is_Plain := False;
      end if;
      Self.Put_Timed (Key, Element, Time_To_Live);
   end Put;

   procedure Put_Timed
     (Self : in out Cache; Key : Key_Type; Element : Element_Type; Time_To_Live : Milliseconds)
   is
      pragma Unreferenced (Time_To_Live);
   begin
      Cache'Class (Self).Put (Key, Element);
   end Put_Timed;

   ------------
   -- Result --
   ------------

   protected body Result is

      procedure Set (To : Load_Outcome) is
      begin
         Outcome := To;
         Is_Set := True;
      end Set;

      entry Wait (Final : out Load_Outcome) when Is_Set is
      begin
         Final := Outcome;
      end Wait;

   end Result;

   -----------
   -- Loads --
   -----------

   protected body Listed_Loads is

      function First_After
        (Hash : Ada.Containers.Hash_Type; After : Load_Number; Only_Fresh : Boolean)
         return Participant_Access
      is
         Current : Participant_Access := Chains (Hash mod Chain_Count);
         Result  : Participant_Access := null;
      begin
         while Current /= null loop
            if Current.Hash = Hash
              and then Current.Load.Value.Number > After
              and then (Current.Load.Value.Is_Fresh or else not Only_Fresh)
              and then (Result = null
                        or else Current.Load.Value.Number < Result.Load.Value.Number)
            then
               Result := Current;
            end if;
            Current := Current.Next;
         end loop;
         return Result;
      end First_After;

      procedure Join
        (Caller : not null Participant_Access;
         After  : Load_Number;
         Other  : in out Load_References.Reference)
      is
         Chain : constant Ada.Containers.Hash_Type := Caller.Hash mod Chain_Count;
         Found : constant Participant_Access :=
           First_After (Caller.Hash, After, Only_Fresh => True);
      begin
         if Found /= null then
            Other := Found.Load;
         else
            Last := Last + 1;
            Caller.Load.Variable.Number := Last;
            Caller.Next := Chains (Chain);
            Chains (Chain) := Caller;
            Caller.Loads := True;
            Count := Count + 1;
         end if;
      end Join;

      procedure Leave (Caller : not null Participant_Access) is
         Before : Participant_Access := Chains (Caller.Hash mod Chain_Count);
      begin
         if Before = Caller then
            Chains (Caller.Hash mod Chain_Count) := Caller.Next;
         else
            while Before.Next /= Caller loop
               Before := Before.Next;
            end loop;
            Before.Next := Caller.Next;
         end if;
         Count := Count - 1;
      end Leave;

      procedure Find
        (Hash  : Ada.Containers.Hash_Type;
         After : Load_Number;
         Other : in out Load_References.Reference)
      is
         Found : constant Participant_Access := First_After (Hash, After, Only_Fresh => False);
      begin
         if Found /= null then
            Other := Found.Load;
         end if;
      end Find;

      function Latest return Load_Number is (Last);

      procedure Forget_All (Was_Loading : out Boolean) is
         Found : Participant_Access;
      begin
         Was_Loading := Count > 0;
         for Chain of Chains loop
            Found := Chain;
            while Found /= null loop
               Found.Load.Variable.Is_Fresh := False;
               Found := Found.Next;
            end loop;
         end loop;
      end Forget_All;

   end Listed_Loads;

   package Counting is new System.Atomic_Operations.Modular_Arithmetic (Atomic_Count);

   --  The participant is counted before it joins. So if a task changes a key and then sees no
   --  callers, the change precedes any later load.

   overriding procedure Initialize (Self : in out Participant) is
   begin
      Counting.Atomic_Add (Self.List.Callers, 1);
   end Initialize;

   overriding procedure Finalize (Self : in out Participant) is
   begin
      if Self.Loads then
         Self.Loads := False;
         Self.List.Listed.Leave (Self'Unchecked_Access);
         Self.Load.Variable.Has_Ended := Load_Waits.True;
         Self.Load.Variable.Result.Set (Self.Outcome);
      end if;
      Counting.Atomic_Subtract (Self.List.Callers, 1);
   end Finalize;

   --  Loads that are listed later begin after the change, so they stay valid

   procedure Forget_Load (Self : in out Cache'Class; Key : Key_Type; Was_Loading : out Boolean) is
      Hash   : Ada.Containers.Hash_Type;
      Latest : Load_Number;
      After  : Load_Number := 0;
      Load   : Load_References.Reference;
   begin
      Was_Loading := False;
      if Self.Loads.Callers /= 0 then
         Hash := Tables.Mixed_Hash (Key);
         Latest := Self.Loads.Listed.Latest;
         while After < Latest loop
            Load.Clear;
            Self.Loads.Listed.Find (Hash, After, Load);
            exit when Load.Is_Null or else Load.Value.Number > Latest;
            After := Load.Value.Number;
            if Load.Value.Key = Key then
               Load.Variable.Is_Fresh := False;
               Was_Loading := True;
            end if;
         end loop;
      end if;
   end Forget_Load;

   procedure Forget_Load (Self : in out Cache'Class; Key : Key_Type) is
      Ignored : Boolean;
   begin
      if Self.Loads.Callers /= 0 then
         Forget_Load (Self, Key, Ignored);
      end if;
   end Forget_Load;

   procedure Forget_Loads (Self : in out Cache'Class; Was_Loading : out Boolean) is
   begin
      Self.Loads.Listed.Forget_All (Was_Loading);
   end Forget_Loads;

   procedure Put_Loaded
     (Self    : in out Cache;
      Key     : Key_Type;
      Element : Element_Type;
      Load    : not null access constant Pending_Load;
      Is_Put  : out Boolean) is
   begin
      Is_Put := Load.Is_Fresh;
      if Is_Put then
         Cache'Class (Self).Put (Key, Element);
      end if;
   end Put_Loaded;

   function New_Load return not null Element_Access is (new Pending_Load);

   procedure Load_For
     (Self    : in out Cache'Class;
      Caller  : in out Participant;
      Load    : not null access function (Key : Key_Type) return Element_Type;
      Element : in out Element_Type)
   is
      Pending  : Pending_Load renames Caller.Load.Variable.Element.all;
      Is_Found : Boolean := False;
      Is_Put   : Boolean;
      Ignored  : Boolean;
   begin
      if not Pending.Replaces then
         --  May have been loaded since the first check
         Self.Look_Up (Pending.Key, Peek, Element, Is_Found, Ignored);
      end if;
      if not Is_Found then
         begin
            Element := Load (Pending.Key);
         exception
            when others =>
               Count_Load (Self, Has_Failed => True);
               raise;
         end;
         Count_Load (Self, Has_Failed => False);
         Self.Put_Loaded (Pending.Key, Element, Pending'Access, Is_Put);
         if not Is_Put then
            --  An element put since then is newer
            Self.Look_Up (Pending.Key, Peek, Element, Is_Found, Ignored);
         end if;
      end if;
      Pending.Element := Element;
      Caller.Outcome := Loaded;
   exception
      when Error : others =>
         Save_Occurrence (Pending.Failure, Error);
         Caller.Outcome := Failed;
         raise;
   end Load_For;

   --  Lists Caller as the task that loads Key, or finds the task that already loads it

   procedure Join
     (Caller   : aliased in out Participant;
      Key      : Key_Type;
      Other    : in out Load_References.Reference;
      Replaces : Boolean := False)
   is
      After : Load_Number := 0;
   begin
      Caller.Hash := Tables.Mixed_Hash (Key);
      Caller.Load.Create (New_Load'Access);
      Caller.Load.Variable.Key := Key;
      Caller.Load.Variable.Replaces := Replaces;
      loop
         Other.Clear;
         Caller.List.Listed.Join (Caller'Unchecked_Access, After, Other);
         exit when Caller.Loads or else Other.Value.Key = Key;
         After := Other.Value.Number;
      end loop;
   end Join;

   procedure Await
     (Load         : Load_References.Reference;
      Deadline     : Time;
      Element      : in out Element_Type;
      Is_Available : out Boolean)
   is
      Wait     : Load_Waits.Wait (Load.Variable.Has_Ended'Access);
      Is_Cycle : Boolean;
      Outcome  : Load_Outcome;
   begin
      Wait.Start (Load.Value.Loader, Is_Cycle);
      if Is_Cycle then
         raise Program_Error with "Load waits for its own result, directly or through other loads";
      end if;
      if Deadline = Time_Last then
         Load.Variable.Result.Wait (Outcome);
      else
         select
            Load.Variable.Result.Wait (Outcome);
         or
            delay until Deadline;
            raise Load_Timeout with "another task did not load the element within the timeout";
         end select;
      end if;
      case Outcome is
         when Loaded    => Element := Load.Value.Element;
         when Failed    => Reraise_Occurrence (Load.Value.Failure);
         when Abandoned => null;
      end case;
      Is_Available := Outcome = Loaded;
   end Await;

   Max_Timeout : constant Duration := 100.0 * 365.0 * 86_400.0;

   function Deadline_After (Timeout : Duration) return Time is
     (if Timeout >= Max_Timeout then Time_Last
      else Clock + To_Time_Span (Duration'Max (Timeout, 0.0)));

   --  If another task is already loading the key, or Load raises an exception, Element does not
   --  change

   procedure Refresh
     (Self    : in out Cache'Class;
      Key     : Key_Type;
      Load    : not null access function (Key : Key_Type) return Element_Type;
      Element : in out Element_Type)
   is
      Caller : aliased Participant (Self.Loads'Access);
      Other  : Load_References.Reference;
      Loaded : Element_Type;
   begin
      Join (Caller, Key, Other, Replaces => True);
      if Caller.Loads then
         begin
            Load_For (Self, Caller, Load, Loaded);
            Element := Loaded;
         exception
            when others => null;
         end;
      end if;
   end Refresh;

   function Get_Or_Load
     (Self    : in out Cache;
      Key     : Key_Type;
      Load    : not null access function (Key : Key_Type) return Element_Type;
      Timeout : Duration := No_Timeout) return Element_Type
   is
      Element      : Element_Type;
      Is_Available : Boolean;
      Deadline     : Time := Time_Last;
      Is_Due       : Boolean;
   begin
      Cache'Class (Self).Look_Up (Key, Read_Or_Refresh, Element, Is_Available, Is_Due);
      if not Is_Available then
         Deadline := Deadline_After (Timeout);
      elsif Is_Due then
         Refresh (Self, Key, Load, Element);
      end if;
      while not Is_Available loop
         declare
            Caller : aliased Participant (Self.Loads'Access);
            Other  : Load_References.Reference;
         begin
            Join (Caller, Key, Other);
            if Caller.Loads then
               Load_For (Self, Caller, Load, Element);
               Is_Available := True;
            else
               Await (Other, Deadline, Element, Is_Available);
            end if;
         end;
      end loop;
      return Element;
   end Get_Or_Load;

   ------------
   -- Change --
   ------------

   overriding procedure Finalize (Self : in out Change) is
      Node : Tables.Node_Access;
   begin
      if Self.Node /= null then
         Tables.Release (Self.Node);
      end if;
      if Self.Larger /= null then
         Tables.Free (Self.Larger);
      end if;
      Tables.Free (Self.Ghosts);
      loop
         Tables.Take_First (Self.Report, Node);
         exit when Node = null;
         Tables.Release (Node);
      end loop;
      Tables.Free (Self.Removed);
   end Finalize;

   procedure Start (Change : in out Caches.Change'Class; Self : Cache'Class) is
   begin
      Change.Now := Now (Self);
      Change.Report.Is_Enabled := Self.Owned.Settings /= null
        and then (Self.Owned.Settings.Options.Listener /= null
                  or else Self.Owned.Settings.Options.Records_Statistics);
   end Start;

   procedure Start (Change : in out Caches.Change'Class; Self : Cache'Class; Key : Key_Type) is
   begin
      Start (Change, Self);
      Change.Found.Hash := Tables.Mixed_Hash (Key);
   end Start;

   --  Returns the time to live of an entry; Forever if it does not expire

   function Time_Of (Self : Cache'Class; Node : Tables.Node; Own : Milliseconds)
      return Milliseconds
   is
      Result : Milliseconds := Own;
   begin
      if Result = Forever
        and then Self.Owned.Settings /= null
        and then Self.Owned.Settings.Options.Time_To_Live_Of /= null
      then
         Result := Self.Owned.Settings.Options.Time_To_Live_Of (Node.Key, Node.Element);
      end if;
      return (if Result = Forever then Self.Time_To_Live else Result);
   end Time_Of;

   procedure Set_Times (Node : in out Tables.Node; Self : Cache'Class; Own, Now : Tables.Instant);
   --  Node.Is_Timed must be True. Own is the time to live; 0 if the node does not expire.

   procedure Set_Times (Node : in out Tables.Node; Self : Cache'Class; Own, Now : Tables.Instant)
   is
      Refresh : Tables.Instant := 0;
   begin
      if Self.Owned.Settings /= null then
         Node.Idle := To_Instant (Self.Owned.Settings.Options.Expire_After_Access);
         Refresh := To_Instant (Self.Owned.Settings.Options.Refresh_After_Write);
      end if;
      Node.Deadline := (if Own = 0 then Tables.Never else Now + Own);
      Node.Accessed := Tables.Shared_Instant (Now);
      if Refresh > 0 then
         Node.Refresh_Due := Tables.Shared_Instant (Now + Refresh);
      end if;
      if Node.Idle = 0 and then Own > 0 and then Own = To_Instant (Self.Time_To_Live) then
         Node.Schedule := Tables.In_Order;
      end if;
   end Set_Times;

   procedure Start
     (Change       : in out Caches.Change'Class;
      Self         : Cache'Class;
      Key          : Key_Type;
      Element      : Element_Type;
      Time_To_Live : Milliseconds := Forever) is
   begin
      Start (Change, Self, Key);
      Change.Node := Tables.New_Node (Key, Element, Change.Found.Hash, Self.Is_Timed);
      if Self.Owned.Settings /= null and then Self.Owned.Settings.Options.Weigher /= null then
         Change.Node.Weight := Self.Owned.Settings.Options.Weigher (Key, Element);
      end if;
      if Change.Node.Is_Timed then
         Set_Times
           (Change.Node.all, Self, To_Instant (Time_Of (Self, Change.Node.all, Time_To_Live)),
            Change.Now);
      end if;
   end Start;

   function Is_Too_Heavy (Change : Caches.Change'Class; Capacity : Positive) return Boolean is
     (Change.Node.Weight > Capacity);

   ---------------
   -- Reporting --
   ---------------

   procedure Report_Node (Self : Cache'Class; Node : Tables.Node; Cause : Removal_Cause) is
      Settings : Caches.Settings renames Self.Owned.Settings.all;
   begin
      if Settings.Options.Records_Statistics and then Cause = Size then
         Settings.Evictions.Increment;
         Settings.Evicted.Add (Integer_64 (Node.Weight));
      elsif Settings.Options.Records_Statistics and then Cause = Expired then
         Settings.Expirations.Increment;
      end if;
      if Settings.Options.Listener /= null then
         Settings.Options.Listener (Node.Key, Node.Element, Cause);
      end if;
   exception
      when others => null;
   end Report_Node;

   function To_Cause (Cause : Tables.Removal_Cause) return Removal_Cause is
     (Removal_Cause'Val (Tables.Removal_Cause'Pos (Cause)));

   procedure Report_Removals (Self : Cache'Class; Change : in out Caches.Change'Class) is
      Node : Tables.Node_Access;
   begin
      loop
         Tables.Take_First (Change.Report, Node);
         exit when Node = null;
         Report_Node (Self, Node.all, To_Cause (Node.Cause));
         Tables.Release (Node);
      end loop;
   end Report_Removals;

   procedure Report_Too_Heavy (Self : Cache'Class; Change : Caches.Change'Class) is
   begin
      if Change.Report.Is_Enabled then
         Report_Node (Self, Change.Node.all, Size);
      end if;
   end Report_Too_Heavy;

   --------------
   -- Applying --
   --------------

   procedure Allocate (Change : in out Caches.Change'Class) is
   begin
      if Change.Lacking > 0 and then Change.Larger = null then
         Change.Larger := Tables.New_Buckets (Change.Lacking);
      end if;
      if Change.Lacking_Ghosts > 0 and then Change.Ghosts = null then
         Change.Ghosts := Tables.New_Ghosts (Change.Lacking_Ghosts);
      end if;
   end Allocate;

   function Is_Overtaken
     (Change : Caches.Change'Class; Present : Tables.Node_Access) return Boolean is
     (Change.Load /= null
      and then (not Change.Load.Is_Fresh
                or else (not Change.Load.Replaces
                         and then Present /= null
                         and then not Tables.Is_Expired (Present, Change.Now))));

   --  The found node is still linked, since the search is current

   function Cause_Of (Change : Caches.Change'Class) return Tables.Removal_Cause is
     (Tables.Cause_Of
        (Change.Found.Node, Change.Now,
         Otherwise => (if Change.Is_Replacement then Tables.Replaced else Tables.Explicit)));

   procedure Put_Node
     (Change      : in out Caches.Change'Class;
      Table       : in out Tables.Table;
      Capacity    : Positive;
      Removed     : in out Tables.Garbage;
      May_Replace : Boolean) is
   begin
      Change.Lacking := Tables.Lacking_Buckets (Table, Change.Found, Capacity, May_Replace);
      Change.Lacking_Ghosts := Tables.Lacking_Ghosts (Table, Capacity);
      if (Change.Lacking > 0 and then Change.Larger = null)
        or else (Change.Lacking_Ghosts > 0 and then Change.Ghosts = null)
      then
         Change.Step := Allocate;
      else
         if Change.Ghosts /= null then
            Tables.Exchange (Table, Change.Ghosts);
         end if;
         Tables.Put
           (Table, Change.Node, Change.Found, Capacity, May_Replace, Change.Larger, Removed,
            Change.Report);
      end if;
   end Put_Node;

   procedure Apply
     (Change      : in out Caches.Change'Class;
      Table       : in out Tables.Table;
      Capacity    : Positive;
      Removed     : in out Tables.Garbage;
      May_Replace : Boolean := True)
   is
      Is_Current : Boolean := True;
   begin
      Change.Step := Finish;
      if Change.Kind in Put | Remove_Expired then
         Tables.Remove_Expired (Table, Change.Now, Removed, Change.Report);
      end if;
      if Change.Kind in Put | Remove then
         Tables.Update (Table, Change.Found, Is_Current);
      end if;
      if not Is_Current then
         Change.Step := Search;
      elsif Change.Kind = Put and then not Is_Overtaken (Change, Change.Found.Node) then
         Put_Node (Change, Table, Capacity, Removed, May_Replace);
      elsif Change.Kind = Remove then
         Tables.Remove
           (Table, Change.Found, Cause_Of (Change), Removed, Change.Report);
      elsif Change.Kind = Clear then
         Tables.Clear (Table, Change.Now, Removed, Change.Report);
      end if;
   end Apply;

   procedure Perform
     (Change   : in out Caches.Change'Class;
      Key      : Key_Type;
      Table    : in out Tables.Table;
      Capacity : Positive) is
   begin
      loop
         case Change.Step is
            when Search   => Tables.Find (Table, Key, Change.Found);
            when Allocate => Allocate (Change);
            when Finish   => exit;
         end case;
         Apply (Change, Table, Capacity, Change.Removed);
      end loop;
   end Perform;

   -----------------
   -- Table cache --
   -----------------

   procedure Perform
     (Self : in out Table_Cache'Class; Key : Key_Type; Change : in out Caches.Change'Class) is
   begin
      loop
         case Change.Step is
            when Search   => Self.Search (Key, Change.Found);
            when Allocate => Allocate (Change);
            when Finish   => exit;
         end case;
         Self.Apply (Change);
      end loop;
      Report_Removals (Self, Change);
   end Perform;

   --  An entry that is too heavy only removes the previous entry of its key

   procedure Remove_Replaced
     (Self : in out Table_Cache'Class; Key : Key_Type; Put : Caches.Change'Class)
   is
      Change : Caches.Change (Remove);
   begin
      Change.Is_Replacement := True;
      Start (Change, Self, Key);
      Perform (Self, Key, Change);
      Report_Too_Heavy (Self, Put);
   end Remove_Replaced;

   --  Aborts are deferred, since an abort would leak the nodes to be freed

   procedure Put_Element
     (Self         : in out Table_Cache'Class;
      Key          : Key_Type;
      Element      : Element_Type;
      Time_To_Live : Milliseconds)
   is
      Change : Caches.Change (Put);
   begin
      pragma Abort_Defer;
      Forget_Load (Self, Key);
      Start (Change, Self, Key, Element, Time_To_Live);
      if Is_Too_Heavy (Change, Self.Capacity) then
         Remove_Replaced (Self, Key, Change);
      else
         Perform (Self, Key, Change);
      end if;
   end Put_Element;

   overriding procedure Put (Self : in out Table_Cache; Key : Key_Type; Element : Element_Type) is
   begin
      Put_Element (Self, Key, Element, Forever);
   end Put;

   overriding procedure Put_Timed
     (Self         : in out Table_Cache;
      Key          : Key_Type;
      Element      : Element_Type;
      Time_To_Live : Milliseconds) is
   begin
      Put_Element (Self, Key, Element, Time_To_Live);
   end Put_Timed;

   overriding procedure Put_Loaded
     (Self    : in out Table_Cache;
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
      if Is_Too_Heavy (Change, Self.Capacity) then
         Is_Put := Load.Is_Fresh;
         if Is_Put then
            Remove_Replaced (Self, Key, Change);
         end if;
      else
         Perform (Self, Key, Change);
         Is_Put := Change.Node = null;
      end if;
   end Put_Loaded;

   overriding procedure Remove (Self : in out Table_Cache; Key : Key_Type) is
      Change : Caches.Change (Remove);
   begin
      pragma Abort_Defer;
      Forget_Load (Self, Key);
      Start (Change, Self, Key);
      Perform (Self, Key, Change);
   end Remove;

   overriding procedure Clear (Self : in out Table_Cache) is
      Change  : Caches.Change (Clear);
      Ignored : Boolean;
   begin
      pragma Abort_Defer;
      Forget_Loads (Self, Ignored);
      Start (Change, Self);
      Table_Cache'Class (Self).Apply (Change);
      Report_Removals (Self, Change);
   end Clear;

   overriding procedure Remove_Expired (Self : in out Table_Cache) is
      Change : Caches.Change (Remove_Expired);
   begin
      pragma Abort_Defer;
      Start (Change, Self);
      Table_Cache'Class (Self).Apply (Change);
      Report_Removals (Self, Change);
   end Remove_Expired;

end Appserver.Caches;
