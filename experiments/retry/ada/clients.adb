--  SPDX-License-Identifier: Apache-2.0

with Appserver.Resilience;
with Appserver.Retry;
with Database;
with Interfaces;
with Policies;

package body Clients is

   use Appserver;
   use Target_Sessions;
   use type Kernel.Nanoseconds;
   use type Retry.Fault;

   --  The process ID and the time of opening are unique among the open cases on this machine

   Process : constant Kernel.Thread_Id := Kernel.Current_Thread;

   function Key (Self : Client; Number : Operation_Number) return String is
     (Process'Image & Self.Opened'Image & Self.Batch'Image & Number'Image);

   -----------
   -- Calls --
   -----------

   procedure Insert_Effect
     (Session : aliased in out Statement_Caches.Statement_Cache;
      Batch   : Batch_Number;
      Number  : Operation_Number)
   is
      Insert : constant Statement_Caches.Prepared_Statement :=
        Session.Prepared ("INSERT INTO effect VALUES (?, ?)");
   begin
      Insert.Bind (1, Interfaces.Integer_64 (Batch));
      Insert.Bind (2, Interfaces.Integer_64 (Number));
      Insert.Execute;
   end Insert_Effect;

   procedure Make_Call (Self : in out Client; Number : Operation_Number) is

      procedure Work (DB : in out Database.Connection) is
         pragma Unreferenced (DB); --  the session has it
      begin
         Self.Work
           (Self.Session, Self.Inputs (Seeded_Sequences.Input_Index'Mod (Number)));
         Insert_Effect (Self.Session, Self.Batch, Number);
      end Work;
   begin
      Transactions.Run_Once (Policies.By, Self.Session.DB, Key (Self, Number), Work'Access);
   end Make_Call;

   Nanoseconds_Per_Second : constant := 1_000_000_000;

   procedure Make_Calls
     (Self       : in out Client;
      Operations : Operation_Count;
      Recorder   : in out Latencies.Recorder;
      Check      : in out Check_Value;
      Units      : in out Unit_Count)
   is
      Number : Operation_Number := Self.First;
   begin
      Recorder.Start;
      for Operation in 1 .. Operations loop
         if Self.Rate > 0 then
            Recorder.Await (Kernel.Nanoseconds (Number) * Nanoseconds_Per_Second / Self.Rate);
         end if;
         begin
            Make_Call (Self, Number);
         exception
            when Error : others =>
               if Retry.Fault_Of (Error) = Retry.Permanent
                 and then not Resilience.Is_Rejection (Error)
               then
                  raise;
               end if;
               Self.Failed.Insert (Number);
         end;
         Recorder.Lap;
         Number := Number + Self.Stride;
      end loop;
      Check := Check_Value (Operations);
      Units := Unit_Count (Operations);
   end Make_Calls;

end Clients;
