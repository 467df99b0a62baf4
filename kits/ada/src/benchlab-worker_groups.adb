--  SPDX-License-Identifier: Apache-2.0

with Ada.Unchecked_Deallocation;

package body Benchlab.Worker_Groups is

   use Ada.Exceptions;
   use type Check_Value;

   procedure Free is new Ada.Unchecked_Deallocation (Worker_Task, Task_Reference);
   procedure Free is new Ada.Unchecked_Deallocation (Shared_State, State_Reference);

   procedure Meet (Barrier : in out Synchronous_Barrier) is
      Ignored : Boolean;
   begin
      Wait_For_Release (Barrier, Ignored);
   end Meet;

   -----------
   -- Tasks --
   -----------

   procedure Do_Share (Member : in out Member_Data) is
   begin
      Member.Check := 0;
      Member.Units := 0;
      Save_Occurrence (Member.Failure, Null_Occurrence);
      if Member.Share > 0 then
         Work
           (Member.Worker, Operation_Count (Member.Share),
            Member.Recorder, Member.Check, Member.Units);
         Member.Recorder.Finish;
      end if;
   exception
      when Error : others =>
         Save_Occurrence (Member.Failure, Error);
   end Do_Share;

   protected body Starting_Gate is

      procedure Open (Are_Complete : Boolean) is
      begin
         Complete := Are_Complete;
         Is_Open  := True;
      end Open;

      entry Pass (Are_Complete : out Boolean) when Is_Open is
      begin
         Are_Complete := Complete;
      end Pass;

   end Starting_Gate;

   task body Worker_Task is
      Are_Complete : Boolean;
   begin
      State.Gate.Pass (Are_Complete);
      while Are_Complete loop
         Meet (State.Start);
         exit when State.Over;
         Do_Share (State.Members (Number));
         Meet (State.Stop);
      end loop;
   end Worker_Task;

   --  Frees the state after the tasks that were started have ended. A task must not be freed before
   --  it has terminated.

   procedure Free_After_Tasks (State : in out State_Reference) is
   begin
      for Each of State.Tasks when Each /= null loop
         while not Each'Terminated loop
            delay 0.000_1;
         end loop;
         Free (Each);
      end loop;
      Free (State);
   end Free_After_Tasks;

   procedure Start (Self : in out Group; Size : Worker_Number) is
   begin
      Self.State := new Shared_State (Size => Size, Meeting => Size + 1);
      for Number in 1 .. Size loop
         Self.State.Tasks (Number) := new Worker_Task (Self.State, Number);
      end loop;
      Self.State.Gate.Open (Are_Complete => True);
   exception
      when others =>
         if Self.State /= null then
            Self.State.Gate.Open (Are_Complete => False);
            Free_After_Tasks (Self.State);
         end if;
         raise;
   end Start;

   overriding procedure Finalize (Self : in out Group) is
   begin
      if Self.State = null then
         return;
      end if;
      Self.State.Over := True;
      Meet (Self.State.Start);
      Free_After_Tasks (Self.State);
   end Finalize;

   -------------
   -- Batches --
   -------------

   procedure Perform
     (Self       : in out Group;
      Operations : Operation_Count;
      Check      : out Check_Value;
      Units      : out Unit_Count)
   is
      Members : Member_List renames Self.State.Members;
      Size    : constant Unit_Count := Unit_Count (Self.Size);
   begin
      for Number in Members'Range loop
         Members (Number).Share :=
           (Unit_Count (Operations) + Size - Unit_Count (Number)) / Size;
      end loop;
      Meet (Self.State.Start);
      Meet (Self.State.Stop);
      Check := 0;
      Units := 0;
      for Member of Members loop
         if Exception_Identity (Member.Failure) /= Null_Id then
            Reraise_Occurrence (Member.Failure);
         end if;
         Check := Check + Member.Check;
         Units := Units + Member.Units;
      end loop;
   end Perform;

   function Measured (Self : Group) return Latencies.Recorder is
   begin
      return Result : Latencies.Recorder do
         for Member of Self.State.Members loop
            if Member.Share > 0 then
               Result.Add (Member.Recorder);
            end if;
         end loop;
      end return;
   end Measured;

end Benchlab.Worker_Groups;
