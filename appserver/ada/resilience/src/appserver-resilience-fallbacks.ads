--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Runs a replacement for an operation that fails.

pragma Ada_2022;

with Ada.Exceptions;

package Appserver.Resilience.Fallbacks is

   procedure Run
     (Operation   : not null access procedure;
      Replacement : not null access procedure
        (Error : Ada.Exceptions.Exception_Occurrence));
   --  Runs an operation, and if the operation fails, a replacement. This is an exception handler in
   --  the form of the other guards. Use it as the outermost guard.
   --  @param Operation the operation
   --  @param Replacement called with the exception of the operation. The replacement should not
   --  call the failed service, and can raise the exception again.

end Appserver.Resilience.Fallbacks;
