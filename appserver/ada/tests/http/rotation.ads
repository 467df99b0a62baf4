--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  An access log that SIGHUP reopens, for logrotate

with Ada.Interrupts.Names;
with Appserver.HTTP.Access_Logs;

package Rotation is

   Log : aliased Appserver.HTTP.Access_Logs.Access_Log (Lines => 1_024);

   protected Hang_Up is
   private
      procedure Reopen
        with Attach_Handler => Ada.Interrupts.Names.SIGHUP;
   end Hang_Up;

end Rotation;
