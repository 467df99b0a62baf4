--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  A benchmark, not a test: prints the cost of a call without a fault, in nanoseconds of CPU time,
--  as the median and the range of multiple rounds.

with Ada.Containers.Generic_Constrained_Array_Sort;
with Ada.Execution_Time;
with Ada.Real_Time;
with Ada.Text_IO;
with Appserver.Retry;

procedure Retry_Cost is

   use Ada.Execution_Time;
   use Appserver.Retry;

   Rounds : constant := 41;
   Calls  : constant := 200_000;

   subtype Round_Number is Positive range 1 .. Rounds;
   type Cost_List is array (Round_Number) of Duration;

   procedure Sort is new Ada.Containers.Generic_Constrained_Array_Sort
     (Round_Number, Duration, Cost_List);

   Shared  : aliased Budget (Percent => 10, Reserve => 20);
   Counted : aliased Metrics;
   By      : constant Policy := (Shared'Access, Counted'Access, others => <>);
   Runs    : Natural := 0 with Volatile;
   Costs   : Cost_List;

   procedure Operation is
   begin
      Runs := Runs + 1;
   end Operation;

   function Image (Cost : Duration) return String is
     (Integer'Image (Integer (1.0E9 * Float (Cost) / Float (Calls))));

begin
   for Cost of Costs loop
      declare
         Start : constant CPU_Time := Clock;
      begin
         for Call in 1 .. Calls loop
            Run (By, Operation'Access);
         end loop;
         Cost := Ada.Real_Time.To_Duration (Clock - Start);
      end;
   end loop;
   Sort (Costs);
   Ada.Text_IO.Put_Line
     ("a call:" & Image (Costs (Rounds / 2 + 1)) & " ns (" & Image (Costs (1)) & " to"
      & Image (Costs (Rounds)) & ")");
end Retry_Cost;
