--  SPDX-License-Identifier: Apache-2.0
--
--  The work of a call in each case (experiments/retry/README.md): the first statements of its
--  transaction, which are followed by an INSERT of a row into the table "effect".

with Interfaces;
with Target_Sessions;

package Calls is

   type Work is access procedure
     (On    : aliased in out Target_Sessions.Statement_Caches.Statement_Cache;
      Input : Interfaces.Unsigned_64);

   function Of_Case (Name : String) return Work;
   --  Returns the work of a case; null if there is no such case

end Calls;
