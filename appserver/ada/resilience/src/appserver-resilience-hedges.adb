--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

pragma Ada_2022;

with Ada.Exceptions;
with Ada.Finalization;

package body Appserver.Resilience.Hedges is

   use Ada.Exceptions;

   type Result_Access is access all Result;

   function First_Result
     (After     : Pause;
      Max_Calls : Hedged_Calls := 2;
      Shared    : access Budget := null) return Result
   is
      Value : aliased Result;
      First : constant Result_Access := Value'Unchecked_Access;

      protected Race is
         procedure Start;
         procedure Withdraw;
         --  Reverses Start for a call whose task could not be created
         procedure Succeed (With_Value : Result);
         procedure Fail (Error : Exception_Occurrence);
         entry Wait_For_End;
         --  Waits for a result, or for the failure of all calls
         function Has_Result return Boolean;
         procedure Raise_Failure;
      private
         Is_Won  : Boolean := False;
         Running : Natural := 0;
         Failure : Exception_Occurrence;
      end Race;

      protected body Race is

         procedure Start is
         begin
            Running := Running + 1;
         end Start;

         procedure Withdraw is
         begin
            Running := Running - 1;
         end Withdraw;

         procedure Succeed (With_Value : Result) is
         begin
            if not Is_Won then
               First.all := With_Value;
               Is_Won    := True;
            end if;
            Running := Running - 1;
         end Succeed;

         procedure Fail (Error : Exception_Occurrence) is
         begin
            Save_Occurrence (Failure, Error);
            Running := Running - 1;
         end Fail;

         entry Wait_For_End when Is_Won or else Running = 0 is
         begin
            null;
         end Wait_For_End;

         function Has_Result return Boolean is (Is_Won);

         procedure Raise_Failure is
         begin
            Reraise_Occurrence (Failure);
         end Raise_Failure;

      end Race;

      task type Caller;

      task body Caller is
      begin
         Race.Succeed (Call);
      exception
         when Error : others => Race.Fail (Error);
      end Caller;

      type Caller_Access is access Caller;

      Callers : array (1 .. Max_Calls) of Caller_Access;
      Started : Natural := 0;

      --  Starts a call. Without the pragma, an abort of the caller could leave a call running that
      --  is not in Callers.

      procedure Start is
      begin
         pragma Abort_Defer;
         Race.Start;
         begin
            Callers (Started + 1) := new Caller;
         exception
            when others =>
               Race.Withdraw;
               raise;
         end;
         Started := Started + 1;
      end Start;

      --  Aborts all calls, even if the caller itself is aborted

      type Stopper is new Ada.Finalization.Limited_Controlled with null record;

      overriding procedure Finalize (Self : in out Stopper);

      overriding procedure Finalize (Self : in out Stopper) is
         pragma Unreferenced (Self);
      begin
         for Each of Callers loop
            if Each /= null then
               abort Each.all;
            end if;
         end loop;
      end Finalize;

      procedure Wait_And_Hedge is
         May_Hedge : Boolean := True;
      begin
         while May_Hedge and then Started < Max_Calls loop
            select
               Race.Wait_For_End;
               return;
            or
               delay After;
            end select;
            if Shared /= null then
               Spend (Shared.all, May_Hedge);
            end if;
            if May_Hedge then
               begin
                  Start;
               exception
                  when Storage_Error | Tasking_Error =>
                     May_Hedge := False;
               end;
            end if;
         end loop;
         Race.Wait_For_End;
      end Wait_And_Hedge;
   begin
      if Shared /= null then
         Earn (Shared.all);
      end if;
      declare
         Stopped_At_End : Stopper with Unreferenced;
      begin
         Start;
         Wait_And_Hedge;
      end;
      if not Race.Has_Result then
         Race.Raise_Failure;
      end if;
      return Value;
   end First_Result;

end Appserver.Resilience.Hedges;
