--  SPDX-License-Identifier: Apache-2.0
--
--  Workers that do a case's operations at once, each in a task of its own: connections, clients.

with Benchlab.Latencies;

private with Ada.Exceptions;
private with Ada.Finalization;
private with Ada.Synchronous_Barriers;

generic
   type Worker is limited private;
   --  What a task works with. It is finalized with the crew.

   with procedure Work
     (Self       : in out Worker;
      Operations : Operation_Count;
      Recorder   : in out Latencies.Recorder;
      Check      : in out Check_Value;
      Units      : in out Unit_Count);
   --  Does its share: starts the recorder, and has a lap at the end of each operation

package Benchlab.Crews is

   subtype Worker_Number is Positive range 1 .. 10_000;

   type Crew is tagged limited private;
   --  Nobody at first. Its tasks end when it is finalized.

   procedure Gather (Self : in out Crew; Size : Worker_Number)
     with Pre => Self.Size = 0, Post => Self.Size = Size;
   --  Makes the workers and starts their tasks, which wait

   function Size (Self : Crew) return Natural;

   function Member (Self : Crew; Number : Worker_Number) return not null access Worker
     with Pre => Number <= Self.Size;
   --  To prepare it, between the batches

   procedure Perform
     (Self       : in out Crew;
      Operations : Operation_Count;
      Check      : out Check_Value;
      Units      : out Unit_Count)
     with Pre => Self.Size > 0;
   --  Of operations 0 to Operations - 1, worker c does those that are c - 1 modulo Size. All start
   --  on a barrier. An exception of a worker's is raised again here, after all have ended.

   function Measured (Self : Crew) return Latencies.Recorder;
   --  Of the latest Perform

private

   use Ada.Synchronous_Barriers;

   type Member_Data is limited record
      Worker   : aliased Crews.Worker;
      Share    : Unit_Count;
      Recorder : Latencies.Recorder;
      Check    : Check_Value;
      Units    : Unit_Count;
      Failure  : Ada.Exceptions.Exception_Occurrence;
   end record;

   type Member_List is array (Positive range <>) of aliased Member_Data;

   type Hall;

   task type Hand (Hall : not null access Crews.Hall; Number : Worker_Number);

   type Hand_Reference is access Hand;
   type Hand_List is array (Positive range <>) of Hand_Reference;

   --  Where they work: the tasks, and the one that lets them, meet at both barriers

   type Hall (Size, Meeting : Positive) is limited record
      Start   : Synchronous_Barrier (Meeting);
      Stop    : Synchronous_Barrier (Meeting);
      Over    : Boolean := False with Atomic;
      Members : Member_List (1 .. Size);
      Hands   : Hand_List (1 .. Size);
   end record;

   type Hall_Reference is access Hall;

   type Crew is new Ada.Finalization.Limited_Controlled with record
      Hall : Hall_Reference;
   end record;

   overriding procedure Finalize (Self : in out Crew);

   function Size (Self : Crew) return Natural is
     (if Self.Hall = null then 0 else Self.Hall.Size);

   function Member (Self : Crew; Number : Worker_Number) return not null access Worker is
     (Self.Hall.Members (Number).Worker'Access);

end Benchlab.Crews;
