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

      procedure Join (Who : not null access Participant) is
         Found : constant Load_Maps.Cursor := Loads.Find (Who.Key);
      begin
         if Load_Maps.Has_Element (Found) then
            Who.Load := Load_Maps.Element (Found);
         else
            Loads.Insert (Who.Key, Who.Load);
            Who.Loads := True;
         end if;
      end Join;

      procedure Leave (Who : not null access Participant) is
      begin
         Loads.Delete (Who.Key);
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
      Who     : in out Participant;
      Load    : not null access function (Key : Key_Type) return Element_Type;
      Element : in out Element_Type)
   is
      Is_Found : Boolean;
   begin
      Self.Get (Who.Key, Element, Is_Found);  --  it may have been loaded since the first look
      if not Is_Found then
         Element := Load (Who.Key);
         Self.Put (Who.Key, Element);
      end if;
      Who.Load.Variable.Result.Set_Element (Element);
      Who.Outcome := Loaded;
   exception
      when Error : others =>
         Who.Load.Variable.Result.Set_Failure (Error);
         Who.Outcome := Failed;
         raise;
   end Load_For;

   procedure Await
     (Who     : Participant;
      Element : in out Element_Type;
      Is_Had  : out Boolean)
   is
      Outcome : Load_Outcome;
   begin
      if Who.Load.Value.Loader = Current_Task then
         raise Program_Error with "Load asks for the key that it loads";
      end if;
      Who.Load.Variable.Result.Wait (Outcome);
      case Outcome is
         when Loaded    => Element := Who.Load.Value.Result.Element;
         when Failed    => Who.Load.Variable.Result.Raise_Failure;
         when Abandoned => null;
      end case;
      Is_Had := Outcome = Loaded;
   end Await;

   function Get_Or_Load
     (Self : in out Cache;
      Key  : Key_Type;
      Load : not null access function (Key : Key_Type) return Element_Type) return Element_Type
   is
      Element : Element_Type;
      Is_Had  : Boolean;
   begin
      Cache'Class (Self).Get (Key, Element, Is_Had);
      while not Is_Had loop
         declare
            Who : aliased Participant (Self.Loads'Access);
         begin
            Who.Key := Key;
            Who.Load.Create (New_Load'Access);
            Self.Loads.Join (Who'Access);
            if Who.Loads then
               Load_For (Self, Who, Load, Element);
               Is_Had := True;
            else
               Await (Who, Element, Is_Had);
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
