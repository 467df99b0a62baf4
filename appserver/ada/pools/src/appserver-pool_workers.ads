--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Background tasks of pools. These tasks belong to the library, and not to a pool or an instance
--  of Appserver.Pools. So a scope that declares a pool does not wait for the tasks at its end.

pragma Ada_2022;

private package Appserver.Pool_Workers is

   type Job is limited interface;

   procedure Run (Self : in out Job) is abstract;
   --  Runs the job in a background task. Must not raise exceptions. The last statement of Run may
   --  release Self. After that, Self may no longer exist.

   procedure Start (Work : not null access Job'Class);
   --  Runs a job in a background task. Work must exist until its Run has released it.
   --  @exception Storage_Error there is not enough memory for a task
   --  @exception Tasking_Error a task cannot be created, or the program is exiting

   function Is_Program_Ending return Boolean;
   --  Returns True once the main program has ended. The program then waits for the background
   --  tasks, so jobs must end.

end Appserver.Pool_Workers;
