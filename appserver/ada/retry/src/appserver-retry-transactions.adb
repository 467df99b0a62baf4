--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

pragma Ada_2022;

with Ada.Strings.Unbounded;
with Appserver.Retry.Calls;
with Appserver.Retry.Key_Tables;
with Appserver.SQL.Call_Limits;
with System.Storage_Elements;

package body Appserver.Retry.Transactions is

   use Ada.Strings.Unbounded;

   function Id_Of (On : Connection) return Calls.Connection_Id is
     (System.Storage_Elements.To_Integer (On'Address));

   Heapless_Length : constant := 1_000;
   --  The maximum length in bytes of a result that is stored without the heap

   --  Opens a session. If setting it up fails, the session is closed.

   procedure Make_Session (On : in out Connection) is
   begin
      SQL.Call_Limits.Begin_Opening (On, Calls.Current.Deadline);
      Open (On);
      SQL.Call_Limits.End_Opening (On);
   exception
      when others =>
         On.Close;
         SQL.Call_Limits.End_Opening (On);
         raise;
   end Make_Session;

   --  Closes the session if it was lost, or if the rollback has failed

   procedure Leave (On : in out Connection; Failed_By : Fault) is
   begin
      if On.Is_Open
        and then (Session_Per_Attempt
                  or else Failed_By in Connection_Lost | Outcome_Unknown
                  or else not On.In_Autocommit)
      then
         On.Close;
      end if;
   end Leave;

   --  When an exception arrives here, the scope of the transaction has already rolled it back

   procedure Attempt
     (On      : aliased in out Connection;
      Has_Key : Boolean;
      Work    : not null access procedure (DB : in out Connection))
   is
      Limit         : SQL.Call_Limits.Call_Limit;
      Known         : Calls.Attempt_Scope (Id_Of (On), Has_Key);
      Is_Committing : Boolean := False;
      Found         : Fault;
   begin
      if not On.Is_Open then
         Make_Session (On);
      end if;
      Limit.Start (On, Calls.Current.Deadline);
      declare
         Scope : SQL.Transaction (On'Access);
      begin
         Work (On);
         Known.Check_Parts;
         Is_Committing := True;
         Before_Commit;
         Scope.Commit;
         After_Commit;
      end;
      Known.Note_Committed (Is_Known => True);
   exception
      when Error : others =>
         Found := Fault_Of (Error);
         Leave (On, Found);
         if not Is_Committing or else Found not in Connection_Lost | Outcome_Unknown then
            Known.Note_Uncommitted;
         else
            Known.Note_Committed (Is_Known => False);
            if Found = Connection_Lost then
               raise Outcome_Unknown_Error with SQL.Message_Of (Error);
            end if;
         end if;
         raise;
   end Attempt;

   procedure Run_Part
     (On   : in out Connection;
      Work : not null access procedure (DB : in out Connection)) is
   begin
      Work (On);
   exception
      when Error : others =>
         if Fault_Of (Error) /= Permanent then
            Calls.Note_Part (Id_Of (On), Error);
         end if;
         raise;
   end Run_Part;

   procedure Run
     (By      : Policy;
      Has_Key : Boolean;
      On      : aliased in out Connection;
      Work    : not null access procedure (DB : in out Connection);
      Stop    : access Cancellation)
   is
      procedure Attempt is
      begin
         Attempt (On, Has_Key, Work);
      end Attempt;
   begin
      if On.Is_Open and then not On.In_Autocommit then
         Run_Part (On, Work);
      else
         Run (By, Has_Key, Attempt'Access, Stop);
      end if;
   end Run;

   procedure Run
     (By   : Policy;
      On   : aliased in out Connection;
      Work : not null access procedure (DB : in out Connection);
      Stop : access Cancellation := null) is
   begin
      Run (By, Has_Key => False, On => On, Work => Work, Stop => Stop);
   end Run;

   --  The first statement inserts the key, so a second call with the same key waits for the first
   --  call to end. The server may still be committing an attempt whose connection was lost.

   procedure Run_With_Key
     (By      : Policy;
      On      : aliased in out Connection;
      Id      : SQL.UTF_8_String;
      Read    : not null access procedure (Result : SQL.UTF_8_String);
      Work    : not null access procedure (DB : in out Connection);
      Stop    : access Cancellation;
      Request : SQL.UTF_8_String)
   is
      Print : constant SQL.UTF_8_String := Key_Tables.Fingerprint (Request);

      procedure Work_Once (DB : in out Connection) is
         Is_New, May_Run : Boolean;
      begin
         Key_Tables.Take (Key_Table, DB, Id, Is_New, Print);
         if not Is_New then
            Read (Key_Tables.Result_Of (Key_Table, DB, Id, Print));
            return;
         end if;
         Calls.Note_Key_Taken (By.Repeatable, May_Run);
         if not May_Run then
            raise Outcome_Unknown_Error
              with "a nested transaction may already have been committed";
         end if;
         Work (DB);
      end Work_Once;
   begin
      Run (By, Has_Key => True, On => On, Work => Work_Once'Access, Stop => Stop);
   end Run_With_Key;

   procedure Run_Once
     (By      : Policy;
      On      : aliased in out Connection;
      Id      : SQL.UTF_8_String;
      Work    : not null access procedure (DB : in out Connection);
      Stop    : access Cancellation := null;
      Request : SQL.UTF_8_String := "")
   is
      procedure Ignore (Result : SQL.UTF_8_String) is null;
   begin
      Run_With_Key (By, On, Id, Ignore'Access, Work, Stop, Request);
   end Run_Once;

   function Run_Once
     (By      : Policy;
      On      : aliased in out Connection;
      Id      : SQL.UTF_8_String;
      Work    : not null access function (DB : in out Connection) return SQL.UTF_8_String;
      Stop    : access Cancellation := null;
      Request : SQL.UTF_8_String := "") return SQL.UTF_8_String
   is
      Short  : String (1 .. Heapless_Length);
      Length : Natural := 0;
      Long   : Unbounded_String;
      --  The result, if it does not fit into Short

      procedure Read (Result : SQL.UTF_8_String) is
      begin
         Length := Result'Length;
         if Length <= Short'Length then
            Short (1 .. Length) := Result;
         else
            Long := To_Unbounded_String (Result);
         end if;
      end Read;

      procedure Work_And_Keep (DB : in out Connection) is
         Result : constant SQL.UTF_8_String := Work (DB);
      begin
         Key_Tables.Keep (Key_Table, DB, Id, Result);
         Read (Result);
      end Work_And_Keep;
   begin
      Run_With_Key (By, On, Id, Read'Access, Work_And_Keep'Access, Stop, Request);
      return (if Length <= Short'Length then Short (1 .. Length) else To_String (Long));
   end Run_Once;

end Appserver.Retry.Transactions;
