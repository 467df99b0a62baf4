--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  live_counter PORT: pages that show the same counter, with server-sent events

with Appserver.HTTP.Server;
with Clock;
with Serving;

procedure Live_Counter is
   Web : Appserver.HTTP.Server.Web_Server;
begin
   Web.Start (Clock.Respond'Access, Port => Serving.Port);
   Clock.Counter.Start;
   Serving.Until_Input_Ends (Web);
   Clock.Counter.Stop;
end Live_Counter;
