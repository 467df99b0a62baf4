--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

pragma Ada_2022;

with Ada.Task_Identification;

package body Appserver.Pool_Workers is

   type Job_Access is access all Job'Class;

   type Worker;
   type Worker_Access is access all Worker;

   task type Worker_Task (Self : not null access Worker) is
      entry Start (Work : not null Job_Access);
   end Worker_Task;

   type Worker is limited record
      Next : Worker_Access := null;
      Runs : Worker_Task (Worker'Access);
   end record;

   --  The idle workers. Their number never exceeds the maximum number of concurrent jobs.

   protected Workers is
      procedure Take (First : out Worker_Access);
      procedure Put (Idle : not null Worker_Access);
   private
      Stack : Worker_Access := null;
   end Workers;

   protected body Workers is

      procedure Take (First : out Worker_Access) is
      begin
         First := Stack;
         if First /= null then
            Stack := First.Next;
         end if;
      end Take;

      procedure Put (Idle : not null Worker_Access) is
      begin
         Idle.Next := Stack;
         Stack := Idle;
      end Put;

   end Workers;

   task body Worker_Task is
      Current : Job_Access;
   begin
      loop
         select
            accept Start (Work : not null Job_Access) do
               Current := Work;
            end Start;
         or
            terminate;
         end select;
         Current.Run;
         Workers.Put (Worker_Access (Self));
      end loop;
   end Worker_Task;

   procedure Start (Work : not null access Job'Class) is
      Idle : Worker_Access;
   begin
      Workers.Take (Idle);
      if Idle = null then
         Idle := new Worker;
      end if;
      Idle.Runs.Start (Work.all'Unchecked_Access);
   end Start;

   function Is_Program_Ending return Boolean is
     (not Ada.Task_Identification.Is_Callable (Ada.Task_Identification.Environment_Task));

end Appserver.Pool_Workers;
