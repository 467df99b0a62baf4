--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

pragma Ada_2022;

package body Appserver.Retry.Calls is

   use type SQL.Integer_64;
   use type Connection_Id;

   Of_Task : Call_Access := null with Thread_Local_Storage;

   function Current return Call_Access is (Of_Task);

   procedure Set_Current (To : Call_Access) is
   begin
      Of_Task := To;
   end Set_Current;

   procedure Begin_Attempt (Self : in out Call) is
   begin
      Self.Lost_Before := SQL.Lost_Connections;
      Self.Lost_Inside := 0;
      Self.Was_Spread  := Self.Is_Spread;
   end Begin_Attempt;

   function Is_Surely_Uncommitted (Self : Call; Is_Lost : Boolean) return Boolean is
     (SQL.Lost_Connections - Self.Lost_Before = Self.Lost_Inside
      and then (not Is_Lost or else Self.Lost_Inside > 0));

   procedure Note_Key_Taken (Repeatable : Boolean; May_Run : out Boolean) is
   begin
      May_Run := Repeatable or else Of_Task = null or else not Of_Task.Was_Spread;
      if not May_Run then
         Of_Task.Is_Over := True;
      elsif Of_Task /= null then
         Of_Task.Is_Unknown := False;
      end if;
   end Note_Key_Taken;

   ------------
   -- Scopes --
   ------------

   overriding procedure Initialize (Self : in out Attempt_Scope) is
   begin
      Self.Outer        := Of_Task.Innermost;
      Self.Lost_Before  := SQL.Lost_Connections;
      Self.Lost_Inside  := Of_Task.Lost_Inside;
      Of_Task.Innermost := Self'Unchecked_Access;
   end Initialize;

   overriding procedure Finalize (Self : in out Attempt_Scope) is
   begin
      Of_Task.Innermost := Self.Outer;
   end Finalize;

   --  Lost connections of nested transactions are counted only once

   procedure Note_Uncommitted (Self : Attempt_Scope) is
   begin
      Of_Task.Lost_Inside := Self.Lost_Inside + (SQL.Lost_Connections - Self.Lost_Before);
   end Note_Uncommitted;

   procedure Note_Committed (Self : Attempt_Scope; Is_Known : Boolean) is
   begin
      if not Self.Has_Key and then (Self.Outer /= null or else not Is_Known) then
         Of_Task.Is_Spread := True;
      end if;
   end Note_Committed;

   procedure Check_Parts (Self : Attempt_Scope) is
   begin
      if Self.Part_Failed then
         Ada.Exceptions.Reraise_Occurrence (Self.Failure);
      end if;
   end Check_Parts;

   procedure Note_Part
     (Connection : Connection_Id; Error : Ada.Exceptions.Exception_Occurrence)
   is
      Scope : Scope_Access := (if Of_Task = null then null else Of_Task.Innermost);
   begin
      while Scope /= null and then Scope.Connection /= Connection loop
         Scope := Scope.Outer;
      end loop;
      if Scope /= null and then not Scope.Part_Failed then
         Ada.Exceptions.Save_Occurrence (Scope.Failure, Error);
         Scope.Part_Failed := True;
      end if;
   end Note_Part;

end Appserver.Retry.Calls;
