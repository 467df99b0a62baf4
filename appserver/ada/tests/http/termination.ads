--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Waits for SIGTERM

with Ada.Interrupts.Names;

package Termination is

   protected Request is
      entry Wait;
   private
      procedure Note
        with Attach_Handler => Ada.Interrupts.Names.SIGTERM;
      Is_There : Boolean := False;
   end Request;

end Termination;
