--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  chat PORT PUBLISHER: clients post messages with POST, and other clients receive them over
--  WebSocket. The reverse proxy that http/README.md configures holds the WebSocket connections, and
--  receives the messages on the port PUBLISHER.

with Appserver.HTTP.Server;
with Conversation;
with Serving;

procedure Chat is
   Web : Appserver.HTTP.Server.Web_Server;
begin
   Web.Start (Conversation'Access, Port => Serving.Port);
   Serving.Until_Input_Ends (Web);
end Chat;
