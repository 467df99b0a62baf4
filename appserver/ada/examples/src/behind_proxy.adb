--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  A server behind a reverse proxy on the same machine, which reports the client's address

with Appserver.HTTP.Server;
with Caller;
with Serving;

procedure Behind_Proxy is
   Web : Appserver.HTTP.Server.Web_Server;
begin
   Web.Start (Caller'Access, Port => Serving.Port);
   Serving.Until_Input_Ends (Web);
end Behind_Proxy;
