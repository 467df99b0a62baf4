--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

pragma Ada_2022;

with Ada.Real_Time;

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

   protected body Load_List is

      procedure Join (Caller : not null access Participant) is
         Found : constant Load_Maps.Cursor := Loads.Find (Caller.Key);
      begin
         if Load_Maps.Has_Element (Found) then
            Caller.Load := Load_Maps.Element (Found);
         else
            Loads.Insert (Caller.Key, Caller.Load);
            Caller.Loads := True;
         end if;
      end Join;

      procedure Leave (Caller : not null access Participant) is
      begin
         Loads.Delete (Caller.Key);
      end Leave;

   end Load_List;

   overriding procedure Finalize (Self : in out Participant) is
   begin
      if Self.Loads then
         Self.Loads := False;
         Self.List.Leave (Self'Unchecked_Access);
         Self.Load.Variable.Result.Set (Self.Outcome);
      end if;
   end Finalize;

   function New_Load return not null Element_Access is (new Pending_Load);

   procedure Load_For
     (Self    : in out Cache'Class;
      Caller  : in out Participant;
      Load    : not null access function (Key : Key_Type) return Element_Type;
      Element : in out Element_Type)
   is
      Is_Found : Boolean;
   begin
      Self.Get (Caller.Key, Element, Is_Found);  --  it may have been loaded since the first look
      if not Is_Found then
         Element := Load (Caller.Key);
         Self.Put (Caller.Key, Element);
      end if;
      Caller.Load.Variable.Result.Set_Element (Element);
      Caller.Outcome := Loaded;
   exception
      when Error : others =>
         Caller.Load.Variable.Result.Set_Failure (Error);
         Caller.Outcome := Failed;
         raise;
   end Load_For;

   procedure Await
     (Caller     : Participant;
      Element      : in out Element_Type;
      Is_Available : out Boolean)
   is
      Outcome : Load_Outcome;
   begin
      if Caller.Load.Value.Loader = Current_Task then
         raise Program_Error with "Load asks for the key that it loads";
      end if;
      Caller.Load.Variable.Result.Wait (Outcome);
      case Outcome is
         when Loaded    => Element := Caller.Load.Value.Result.Element;
         when Failed    => Caller.Load.Variable.Result.Raise_Failure;
         when Abandoned => null;
      end case;
      Is_Available := Outcome = Loaded;
   end Await;

   function Get_Or_Load
     (Self : in out Cache;
      Key  : Key_Type;
      Load : not null access function (Key : Key_Type) return Element_Type) return Element_Type
   is
      Element      : Element_Type;
      Is_Available : Boolean;
   begin
      Cache'Class (Self).Get (Key, Element, Is_Available);
      while not Is_Available loop
         declare
            Caller : aliased Participant (Self.Loads'Access);
         begin
            Caller.Key := Key;
            Caller.Load.Create (New_Load'Access);
            Self.Loads.Join (Caller'Access);
            if Caller.Loads then
               Load_For (Self, Caller, Load, Element);
               Is_Available := True;
            else
               Await (Caller, Element, Is_Available);
            end if;
         end;
      end loop;
      return Element;
   end Get_Or_Load;

   -----------
   -- Nodes --
   -----------

   function New_Node
     (Self : Cache'Class; Key : Key_Type; Element : Element_Type)
      return not null Tables.Node_Access is
     (Tables.New_Node
        (Key, Element,
         Expires =>
           (if Self.Time_To_Live = Forever then Time_Last
            else Clock + Ada.Real_Time.Milliseconds (Integer (Self.Time_To_Live)))));

   function Is_Valid (Node : Tables.Node_Access) return Boolean is
     (Node /= null
      and then (Node.Expires = Time_Last or else Clock < Node.Expires));

end Appserver.Caches;
