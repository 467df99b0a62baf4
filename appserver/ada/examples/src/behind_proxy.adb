--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Behind a proxy on this machine, which says who asks

with Appserver.HTTP.Server;
with Caller;
with Serving;

procedure Behind_Proxy is
   Web : Appserver.HTTP.Server.Web_Server;
begin
   Web.Start (Caller'Access, Port => Serving.Port);
   Serving.Until_Input_Ends (Web);
end Behind_Proxy;
