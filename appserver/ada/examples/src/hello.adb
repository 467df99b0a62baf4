--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  A minimal server

with Appserver.HTTP.Server;
with Greeting;
with Serving;

procedure Hello is
   Web : Appserver.HTTP.Server.Web_Server;
begin
   Web.Start (Greeting'Access, Port => Serving.Port);
   Serving.Until_Input_Ends (Web);
end Hello;
