--  SPDX-License-Identifier: Apache-2.0
--
--  The retry policy of the example in appserver/ada/retry/README.md. It has a budget only if the subject
--  is started with the argument "budget".

with Ada.Command_Line;
with Appserver.Retry;

package Policies is

   use Appserver;
   use Ada.Command_Line;

   Has_Budget : constant Boolean := Argument_Count > 0 and then Argument (1) = "budget";

   Counted : aliased Retry.Metrics;
   --  The metrics of all clients

   Shared : aliased Retry.Budget (Percent => 10, Reserve => 20);

   By : constant Retry.Policy :=
     (Budget   => (if Has_Budget then Shared'Access else null),
      Metrics  => Counted'Access,
      Attempts => 5,
      Deadline => 10.0,
      others   => <>);

end Policies;
