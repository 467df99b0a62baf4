--  SPDX-License-Identifier: Apache-2.0
--
--  The retry policy: as the example of appserver/ada/BLOCKS.md has it, with its budget only
--  if the subject is started with the argument "budget".

with Ada.Command_Line;
with Appserver.Retry;

package Policies is

   use Appserver;
   use Ada.Command_Line;

   Has_Budget : constant Boolean := Argument_Count > 0 and then Argument (1) = "budget";

   Counted : aliased Retry.Metrics;
   --  What all clients met

   Shared : aliased Retry.Budget (Percent => 10, Reserve => 20);

   By : constant Retry.Policy :=
     (Budget   => (if Has_Budget then Shared'Access else null),
      Metrics  => Counted'Access,
      Attempts => 5,
      Deadline => 10.0,
      others   => <>);

end Policies;
