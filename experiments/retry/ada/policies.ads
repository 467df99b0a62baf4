--  SPDX-License-Identifier: Apache-2.0
--
--  The retry policy of the example in appserver/ada/retry/README.md. The policy has a budget only
--  with the program's argument "budget", and a circuit breaker only with the argument "breaker".

with Ada.Command_Line;
with Appserver.Retry;

package Policies is

   use Appserver;
   use Ada.Command_Line;

   Variant : constant String := (if Argument_Count > 0 then Argument (1) else "");
   --  The policy's variant: "budget" with a retry budget, "breaker" with a circuit breaker, or
   --  empty

   Counted : aliased Retry.Metrics;
   --  The retry metrics of all clients together

   Shared : aliased Retry.Budget (Percent => 10, Reserve => 20);

   Breaker : aliased Retry.Outage_Breaker := (Window => 20, Open_Time => 1.0, others => <>);
   --  A circuit breaker that opens for one second if half of the last 20 attempts have lost their
   --  connection

   By : constant Retry.Policy :=
     (Budget   => (if Variant = "budget" then Shared'Access else null),
      Metrics  => Counted'Access,
      Breaker  => (if Variant = "breaker" then Breaker'Access else null),
      Listener => null,
      Attempts => 5,
      Deadline => 10.0,
      others   => <>);

end Policies;
