--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  A benchmark, not a test: prints the cost of recording a request, in nanoseconds of CPU time, as
--  the median and the range of multiple rounds.

with Ada.Containers.Generic_Constrained_Array_Sort;
with Ada.Execution_Time;
with Ada.Real_Time;
with Ada.Text_IO;
with Appserver.Monitors;

procedure Monitor_Cost is

   use Ada.Execution_Time;
   use Ada.Text_IO;
   use Appserver;

   Rounds : constant := 41;
   Calls  : constant := 200_000;

   subtype Round_Number is Positive range 1 .. Rounds;
   type Cost_List is array (Round_Number) of Duration;

   procedure Sort is new Ada.Containers.Generic_Constrained_Array_Sort
     (Round_Number, Duration, Cost_List);

   Watched : aliased Monitors.Monitor;
   Query   : constant Monitors.Query :=
     Watched.Query_Of ("SELECT name FROM article WHERE id = ?");

   Latest  : Monitors.Nanoseconds := 0 with Volatile;

   procedure Clock_Alone is
   begin
      Latest := Monitors.Clock;
      Latest := Monitors.Clock;
   end Clock_Alone;

   procedure One_Request is
      Timed : aliased Monitors.Timed_Request (Watched'Access);
   begin
      Monitors.Start (Timed, "GET", "/articles/4711");
      Monitors.Finish (Timed, 200, "/articles/4711");
   end One_Request;

   procedure With_Query is
      Timed : aliased Monitors.Timed_Request (Watched'Access);
   begin
      Monitors.Start (Timed, "GET", "/articles/4711");
      Watched.Record_Query (Query, 12_345);
      Monitors.Finish (Timed, 200, "/articles/4711");
   end With_Query;

   procedure Measure (Name : String; Operation : not null access procedure) is
      Costs : Cost_List;

      function Image (Cost : Duration) return String is
        (Integer'Image (Integer (1.0E9 * Float (Cost) / Float (Calls))));

   begin
      for Cost of Costs loop
         declare
            Start : constant CPU_Time := Clock;
         begin
            for Call in 1 .. Calls loop
               Operation.all;
            end loop;
            Cost := Ada.Real_Time.To_Duration (Clock - Start);
         end;
      end loop;
      Sort (Costs);
      Put_Line
        (Name & ":" & Image (Costs (Rounds / 2 + 1)) & " ns (" & Image (Costs (1)) & " to"
         & Image (Costs (Rounds)) & ")");
   end Measure;

begin
   Measure ("the clock, twice", Clock_Alone'Access);
   Measure ("a request", One_Request'Access);
   Measure ("a request with a query", With_Query'Access);
end Monitor_Cost;
