--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

pragma Ada_2022;

with Ada.Real_Time;
with System.Atomic_Operations.Modular_Arithmetic;

package body Appserver.Caches is

   use Ada.Real_Time;
   use Load_References;
   use type Tables.Node_Access;

   ------------
   -- Result --
   ------------

   protected body Result is

      procedure Set (To : Load_Outcome) is
      begin
         Outcome := To;
         Is_Set := True;
      end Set;

      procedure Set_Element (To : Element_Type) is
      begin
         Value := To;
      end Set_Element;

      procedure Set_Failure (To : Exception_Occurrence) is
      begin
         Save_Occurrence (Failure, To);
      end Set_Failure;

      entry Wait (Final : out Load_Outcome) when Is_Set is
      begin
         Final := Outcome;
      end Wait;

      function Element return Element_Type is (Value);

      procedure Raise_Failure is
      begin
         Reraise_Occurrence (Failure);
      end Raise_Failure;

   end Result;

   -----------
   -- Loads --
   -----------

   function Is_For
     (Load : not null Participant_Access; Key : Key_Type; Hash : Ada.Containers.Hash_Type)
      return Boolean is
     (Load.Hash = Hash and then Load.Key = Key);

   protected body Listed_Loads is

      procedure Join (Caller : not null Participant_Access) is
         Chain : constant Ada.Containers.Hash_Type := Caller.Hash mod Chain_Count;
         Found : Participant_Access := Chains (Chain);
      begin
         while Found /= null
           and then not (Is_For (Found, Caller.Key, Caller.Hash)
                         and then Found.Load.Value.Is_Wanted)
         loop
            Found := Found.Next;
         end loop;
         if Found /= null then
            Caller.Load := Found.Load;
         else
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

      procedure Forget
        (Key : Key_Type; Hash : Ada.Containers.Hash_Type; Was_Loading : out Boolean)
      is
         Found : Participant_Access := Chains (Hash mod Chain_Count);
      begin
         Was_Loading := False;
         while Found /= null loop
            if Is_For (Found, Key, Hash) then
               Found.Load.Variable.Is_Wanted := False;
               Was_Loading := True;
            end if;
            Found := Found.Next;
         end loop;
      end Forget;

      procedure Forget_All (Was_Loading : out Boolean) is
         Found : Participant_Access;
      begin
         Was_Loading := Count > 0;
         for Chain of Chains loop
            Found := Chain;
            while Found /= null loop
               Found.Load.Variable.Is_Wanted := False;
               Found := Found.Next;
            end loop;
         end loop;
      end Forget_All;

   end Listed_Loads;

   package Counting is new System.Atomic_Operations.Modular_Arithmetic (Atomic_Count);

   --  Counted before it joins: whoever changes a key and then sees no caller comes before the load

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

   procedure Forget_Load (Self : in out Cache'Class; Key : Key_Type; Was_Loading : out Boolean) is
   begin
      Was_Loading := False;
      if Self.Loads.Callers /= 0 then
         Self.Loads.Listed.Forget (Key, Hash (Key), Was_Loading);
      end if;
   end Forget_Load;

   procedure Forget_Load (Self : in out Cache'Class; Key : Key_Type) is
      Ignored : Boolean;
   begin
      Forget_Load (Self, Key, Ignored);
   end Forget_Load;

   procedure Forget_Loads (Self : in out Cache'Class; Was_Loading : out Boolean) is
   begin
      Self.Loads.Listed.Forget_All (Was_Loading);
   end Forget_Loads;

   procedure Forget_Loads (Self : in out Cache'Class) is
      Ignored : Boolean;
   begin
      Forget_Loads (Self, Ignored);
   end Forget_Loads;

   procedure Put_Loaded
     (Self    : in out Cache;
      Key     : Key_Type;
      Element : Element_Type;
      Load    : Pending_Load;
      Is_Put  : out Boolean) is
   begin
      Is_Put := Load.Is_Wanted;
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
      Self.Get (Caller.Key, Element, Is_Found);  --  it may have been loaded since the first look
      if not Is_Found then
         Element := Load (Caller.Key);
         Self.Put_Loaded (Caller.Key, Element, Pending, Is_Put);
         if not Is_Put then
            Self.Get (Caller.Key, Element, Is_Found);  --  what was put since is newer
         end if;
      end if;
      Pending.Result.Set_Element (Element);
      Caller.Outcome := Loaded;
   exception
      when Error : others =>
         Pending.Result.Set_Failure (Error);
         Caller.Outcome := Failed;
         raise;
   end Load_For;

   procedure Await
     (Caller       : Participant;
      Deadline     : Time;
      Element      : in out Element_Type;
      Is_Available : out Boolean)
   is
      Wait     : Load_Waits.Wait (Caller.Load.Variable.Has_Ended'Access);
      Is_Cycle : Boolean;
      Outcome  : Load_Outcome;
   begin
      Wait.Start (Caller.Load.Value.Loader, Is_Cycle);
      if Is_Cycle then
         raise Program_Error with "Load waits for itself";
      end if;
      if Deadline = Time_Last then
         Caller.Load.Variable.Result.Wait (Outcome);
      else
         select
            Caller.Load.Variable.Result.Wait (Outcome);
         or
            delay until Deadline;
            raise Load_Timeout;
         end select;
      end if;
      case Outcome is
         when Loaded    => Element := Caller.Load.Value.Result.Element;
         when Failed    => Caller.Load.Variable.Result.Raise_Failure;
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
         begin
            Caller.Key := Key;
            Caller.Hash := Hash (Key);
            Caller.Load.Create (New_Load'Access);
            Self.Loads.Listed.Join (Caller'Unchecked_Access);
            if Caller.Loads then
               Load_For (Self, Caller, Load, Element);
               Is_Available := True;
            else
               Await (Caller, Deadline, Element, Is_Available);
            end if;
         end;
      end loop;
      return Element;
   end Get_Or_Load;

   -----------
   -- Nodes --
   -----------

   overriding procedure Finalize (Self : in out Change) is
   begin
      Tables.Free (Self.Node);
      Tables.Free (Self.Removed);
   end Finalize;

   procedure Make_Node
     (Self : Cache'Class; Key : Key_Type; Element : Element_Type; Into : in out Change) is
   begin
      Into.Node := Tables.New_Node
        (Key, Element,
         Expires =>
           (if Self.Time_To_Live = Forever then Time_Last
            else Clock + Ada.Real_Time.Milliseconds (Integer (Self.Time_To_Live))));
   end Make_Node;

   procedure Put
     (Into : in out Tables.Table; Capacity : Positive; Change : in out Caches.Change) is
   begin
      Tables.Put (Into, Change.Node, Capacity, Change.Removed);
      Change.Node := null;
   end Put;

   function Is_To_Be_Kept
     (Into : Tables.Table; Load : Pending_Load; Change : Caches.Change) return Boolean is
     (Load.Is_Wanted and then not Is_Valid (Tables.Find (Into, Change.Node.Key)));

   function Is_Valid (Node : Tables.Node_Access) return Boolean is
     (Node /= null
      and then (Node.Expires = Time_Last or else Clock < Node.Expires));

end Appserver.Caches;
