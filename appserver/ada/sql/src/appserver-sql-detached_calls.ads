--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Adds a timeout to C functions without a timeout, such as getaddrinfo(3). Each call runs in its
--  own thread, which is abandoned after the timeout. The thread is not an Ada task, since a program
--  waits for all its tasks before it exits.

pragma Ada_2022;

with System;

private with Ada.Finalization;

private package Appserver.SQL.Detached_Calls is

   type C_Procedure is access procedure (Argument : System.Address) with Convention => C;
   --  A procedure for a thread that the Ada run-time system does not manage. The procedure may call
   --  C functions, and must not raise exceptions.

   type Detached_Call (Work, Drop : not null C_Procedure) is tagged limited private;

   procedure Own (Self : in out Detached_Call; Argument : System.Address);
   --  Transfers ownership of Argument to Self. When Self leaves its scope, Drop is called once with
   --  Argument. If Work is still running at that time, Drop is called when Work returns.

   procedure Run (Self : in out Detached_Call; Timeout : Duration; Is_Done : out Boolean);
   --  Calls Work once, with the Argument that Self owns. If Work takes longer than Timeout seconds,
   --  or this task is aborted, Self releases the ownership of Argument, and Is_Done is False. A
   --  negative Timeout counts as zero; Duration'Last means no limit. Raises SQL_Error 53000 if no
   --  thread or no pipe can be created.

private

   type Thread_State;
   type State_Access is access Thread_State;

   type Detached_Call (Work, Drop : not null C_Procedure) is
     limited new Ada.Finalization.Limited_Controlled with record
      Argument : System.Address := System.Null_Address;
      --  The owned argument; null if there is none
      Thread   : State_Access;
      --  The thread that runs Work; null if no thread was started, or if the thread was abandoned
   end record;

   overriding procedure Finalize (Self : in out Detached_Call);

end Appserver.SQL.Detached_Calls;
