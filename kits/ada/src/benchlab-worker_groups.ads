--  SPDX-License-Identifier: Apache-2.0
--
--  Workers, such as connections or clients, that perform a case's operations concurrently. Each
--  worker has its own task.

with Benchlab.Latencies;

private with Ada.Exceptions;
private with Ada.Finalization;
private with Ada.Synchronous_Barriers;

generic
   type Worker is limited private;
   --  The data of a worker. It is finalized with the group.

   with procedure Work
     (Self       : in out Worker;
      Operations : Operation_Count;
      Recorder   : in out Latencies.Recorder;
      Check      : in out Check_Value;
      Units      : in out Unit_Count);
   --  Performs the worker's operations. Must start the recorder. Must call Lap at the end of each
   --  operation, or not at all if the case does not report latencies. Not called for a worker
   --  without operations.

package Benchlab.Worker_Groups is

   subtype Worker_Number is Positive range 1 .. 10_000;

   type Group is tagged limited private;
   --  A group of workers, initially empty. The workers' tasks end when the group is finalized.

   procedure Start (Self : in out Group; Size : Worker_Number)
     with Pre => Self.Size = 0, Post => Self.Size = Size;
   --  Creates the workers and starts their tasks, which wait for the first batch. If a task cannot
   --  be started, the others end, and the group remains empty.

   function Size (Self : Group) return Natural;

   function Member (Self : Group; Number : Worker_Number) return not null access Worker
     with Pre => Number <= Self.Size;
   --  Returns a worker, so that the case can prepare it between batches

   procedure Perform
     (Self       : in out Group;
      Operations : Operation_Count;
      Check      : out Check_Value;
      Units      : out Unit_Count)
     with Pre => Self.Size > 0;
   --  Performs a batch. Worker c performs the operations k in 0 .. Operations - 1 with k mod Size =
   --  c - 1. All workers start at a barrier. If a worker raises an exception, Perform raises the
   --  exception again after all workers have finished.

   function Measured (Self : Group) return Latencies.Recorder;
   --  Returns the latencies of the latest Perform

private

   use Ada.Synchronous_Barriers;

   type Member_Data is limited record
      Worker   : aliased Worker_Groups.Worker;
      Share    : Unit_Count := 0;
      Recorder : Latencies.Recorder;
      Check    : Check_Value;
      Units    : Unit_Count;
      Failure  : Ada.Exceptions.Exception_Occurrence;
   end record;

   type Member_List is array (Positive range <>) of aliased Member_Data;

   type Shared_State;

   task type Worker_Task (State : not null access Shared_State; Number : Worker_Number);

   --  Holds the tasks until all of them have started or one of them cannot be started

   protected type Starting_Gate is
      procedure Open (Are_Complete : Boolean);
      entry Pass (Are_Complete : out Boolean);
   private
      Is_Open  : Boolean := False;
      Complete : Boolean := False;
   end Starting_Gate;

   type Task_Reference is access Worker_Task;
   type Task_List is array (Positive range <>) of Task_Reference;

   --  The common state of a group. The workers' tasks and the task that calls Perform wait for each
   --  other at both barriers.

   type Shared_State (Size, Meeting : Positive) is limited record
      Gate    : Starting_Gate;
      Start   : Synchronous_Barrier (Meeting);
      Stop    : Synchronous_Barrier (Meeting);
      Over    : Boolean := False with Atomic;
      Members : Member_List (1 .. Size);
      Tasks   : Task_List (1 .. Size);
   end record;

   type State_Reference is access Shared_State;

   type Group is new Ada.Finalization.Limited_Controlled with record
      State : State_Reference;
   end record;

   overriding procedure Finalize (Self : in out Group);

   function Size (Self : Group) return Natural is
     (if Self.State = null then 0 else Self.State.Size);

   function Member (Self : Group; Number : Worker_Number) return not null access Worker is
     (Self.State.Members (Number).Worker'Access);

end Benchlab.Worker_Groups;
