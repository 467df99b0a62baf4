--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

pragma Ada_2022;

with Ada.Real_Time;
with System.Atomic_Operations.Modular_Arithmetic;

package body Appserver.Caches is

   use Ada.Real_Time;
   use Load_References;

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
   --  callers, the change was made before the load begins.

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
      Is_Found : Boolean;
      Is_Put   : Boolean;
   begin
      Self.Get (Pending.Key, Element, Is_Found);  --  may have been loaded since the first check
      if not Is_Found then
         Element := Load (Pending.Key);
         Self.Put_Loaded (Pending.Key, Element, Pending'Access, Is_Put);
         if not Is_Put then
            Self.Get (Pending.Key, Element, Is_Found);  --  an element put since then is newer
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
     (Caller : aliased in out Participant;
      Key    : Key_Type;
      Other  : in out Load_References.Reference)
   is
      After : Load_Number := 0;
   begin
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
         raise Program_Error with "Load waits for its own result";
      end if;
      if Deadline = Time_Last then
         Load.Variable.Result.Wait (Outcome);
      else
         select
            Load.Variable.Result.Wait (Outcome);
         or
            delay until Deadline;
            raise Load_Timeout;
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

   function Get_Or_Load
     (Self    : in out Cache;
      Key     : Key_Type;
      Load    : not null access function (Key : Key_Type) return Element_Type;
      Timeout : Duration := No_Timeout) return Element_Type
   is
      Element      : Element_Type;
      Is_Available : Boolean;
      Deadline     : Time := Time_Last;
   begin
      Cache'Class (Self).Get (Key, Element, Is_Available);
      if not Is_Available then
         Deadline := Deadline_After (Timeout);
      end if;
      while not Is_Available loop
         declare
            Caller : aliased Participant (Self.Loads'Access);
            Other  : Load_References.Reference;
         begin
            Caller.Hash := Tables.Mixed_Hash (Key);
            Caller.Load.Create (New_Load'Access);
            Caller.Load.Variable.Key := Key;
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

   function Is_Valid (Node : Tables.Node_Access) return Boolean is
     (Node /= null
      and then (Node.Expires = Time_Last or else Clock < Node.Expires));

   overriding procedure Finalize (Self : in out Change) is
   begin
      if Self.Node /= null then
         Tables.Release (Self.Node);
      end if;
      if Self.Larger /= null then
         Tables.Free (Self.Larger);
      end if;
      Tables.Free (Self.Removed);
   end Finalize;

   procedure Start (Change : in out Caches.Change'Class; Key : Key_Type) is
   begin
      Change.Found.Hash := Tables.Mixed_Hash (Key);
   end Start;

   procedure Start
     (Change       : in out Caches.Change'Class;
      Key          : Key_Type;
      Element      : Element_Type;
      Time_To_Live : Milliseconds) is
   begin
      Start (Change, Key);
      Change.Node := Tables.New_Node
        (Key, Element, Change.Found.Hash,
         Expires =>
           (if Time_To_Live = Forever then Time_Last
            else Clock + Ada.Real_Time.Milliseconds (Integer (Time_To_Live))));
   end Start;

   --  The found node is still linked, since the search is current

   function Is_Overtaken (Change : Caches.Change'Class) return Boolean is
     (Change.Load /= null
      and then (not Change.Load.Is_Fresh or else Is_Valid (Change.Found.Node)));

   procedure Put_Node
     (Change      : in out Caches.Change'Class;
      Table       : in out Tables.Table;
      Capacity    : Positive;
      Removed     : in out Tables.Garbage;
      May_Replace : Boolean) is
   begin
      Change.Lacking := Tables.Lacking_Buckets (Table, Change.Found, Capacity, May_Replace);
      if Change.Lacking > 0 and then Change.Larger = null then
         Change.Step := Allocate;
      else
         Tables.Put
           (Table, Change.Node, Change.Found, Capacity, May_Replace, Change.Larger, Removed);
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
         Tables.Remove_Expired (Table, Removed);
      end if;
      if Change.Kind in Put | Remove then
         Tables.Update (Table, Change.Found, Is_Current);
      end if;
      if not Is_Current then
         Change.Step := Search;
      elsif Change.Kind = Put and then not Is_Overtaken (Change) then
         Put_Node (Change, Table, Capacity, Removed, May_Replace);
      elsif Change.Kind = Remove then
         Tables.Remove (Table, Change.Found, Removed);
      elsif Change.Kind = Clear then
         Tables.Clear (Table, Removed);
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
            when Allocate => Change.Larger := Tables.New_Buckets (Change.Lacking);
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
            when Allocate => Change.Larger := Tables.New_Buckets (Change.Lacking);
            when Finish   => exit;
         end case;
         Self.Apply (Change);
      end loop;
   end Perform;

   --  Aborts are deferred, since an abort would leak the nodes to be freed

   overriding procedure Put (Self : in out Table_Cache; Key : Key_Type; Element : Element_Type) is
      Change : Caches.Change (Put);
   begin
      pragma Abort_Defer;
      Forget_Load (Self, Key);
      Start (Change, Key, Element, Self.Time_To_Live);
      Perform (Self, Key, Change);
   end Put;

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
      Start (Change, Key, Element, Self.Time_To_Live);
      Perform (Self, Key, Change);
      Is_Put := Change.Node = null;
   end Put_Loaded;

   overriding procedure Remove (Self : in out Table_Cache; Key : Key_Type) is
      Change : Caches.Change (Remove);
   begin
      pragma Abort_Defer;
      Forget_Load (Self, Key);
      Start (Change, Key);
      Perform (Self, Key, Change);
   end Remove;

   overriding procedure Clear (Self : in out Table_Cache) is
      Change  : Caches.Change (Clear);
      Ignored : Boolean;
   begin
      pragma Abort_Defer;
      Forget_Loads (Self, Ignored);
      Table_Cache'Class (Self).Apply (Change);
   end Clear;

   overriding procedure Remove_Expired (Self : in out Table_Cache) is
      Change : Caches.Change (Remove_Expired);
   begin
      pragma Abort_Defer;
      Table_Cache'Class (Self).Apply (Change);
   end Remove_Expired;

end Appserver.Caches;
