--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  A benchmark, not a test: processes a number of requests without sockets, with or without a
--  monitor: overhead_calls with 200000, overhead_calls without 200000

with Ada.Command_Line;
with Appserver.HTTP.Services;
with Appserver.HTTP.Trials;
with Overhead_Parts;

procedure Overhead_Calls is

   use Ada.Command_Line;
   use Appserver;

   End_Of_Line : constant String := [ASCII.CR, ASCII.LF];

   Bytes : constant String :=
     "GET /articles/4711 HTTP/1.1" & End_Of_Line & "Host: shop.example" & End_Of_Line & End_Of_Line;

   Service : constant not null HTTP.Services.Service_Reference :=
     (if Argument (1) = "with" then Overhead_Parts.Counted'Access
      else Overhead_Parts.Handler'Access);

begin
   for Request in 1 .. Positive'Value (Argument (2)) loop
      if HTTP.Trials.Responses (Service, Bytes) = "" then
         raise Program_Error;
      end if;
   end loop;
end Overhead_Calls;
