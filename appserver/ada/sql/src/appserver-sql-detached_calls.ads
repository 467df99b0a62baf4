--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Calls of C libraries that take no time limit, such as getaddrinfo(3): each is made by a thread
--  of its own, and is abandoned when its time is over. A task cannot be abandoned: the program
--  would wait for it at its end.

pragma Ada_2022;

with System;

private with Ada.Finalization;

private package Appserver.SQL.Detached_Calls is

   type C_Procedure is access procedure (Argument : System.Address) with Convention => C;
   --  It runs on a thread that the Ada run time does not know: it may call C, and raises nothing

   type Detached_Call (Work, Drop : not null C_Procedure) is tagged limited private;

   procedure Own (Self : in out Detached_Call; Argument : System.Address);
   --  Drop is called once with Argument: when Self leaves scope, or when Work returns later

   procedure Run (Self : in out Detached_Call; Timeout : Duration; Is_Done : out Boolean);
   --  Calls Work with the Argument that it owns, once. If that takes longer than Timeout seconds,
   --  or this task is aborted, it owns Argument no longer, and Is_Done is False. Negative Timeouts
   --  are zero; Duration'Last is no limit. SQL_Error, 53000, if there is no thread or no pipe.

private

   type Thread_State;
   type State_Access is access Thread_State;

   type Detached_Call (Work, Drop : not null C_Procedure) is
     limited new Ada.Finalization.Limited_Controlled with record
      Argument : System.Address := System.Null_Address;
      --  Null if there is nothing to drop
      Thread   : State_Access;
      --  Null if none was started, or if it was abandoned
   end record;

   overriding procedure Finalize (Self : in out Detached_Call);

end Appserver.SQL.Detached_Calls;
