--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Calls of C libraries that take no time limit, such as getaddrinfo(3): each is made by a thread
--  of its own, and is abandoned when its time is over. A task cannot be abandoned: the program
--  would wait for it at its end.

pragma Ada_2022;

with System;

private package Appserver.SQL.Detached_Calls is

   type C_Procedure is access procedure (Argument : System.Address) with Convention => C;
   --  It runs on a thread that the Ada run time does not know: it may call C, and raises nothing

   procedure Call
     (Work, Drop : not null C_Procedure;
      Argument   : System.Address;
      Timeout    : Duration;
      Is_Done    : out Boolean);
   --  Calls Work with Argument. If it takes longer than Timeout seconds, Is_Done is False and
   --  Argument is no longer the caller's: Drop is called with it when Work returns. Negative
   --  Timeouts are zero. SQL_Error, 53000, if there is no thread or no pipe.

end Appserver.SQL.Detached_Calls;
