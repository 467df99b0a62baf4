--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  chat PORT PUBLISHER: what clients say by POST, others hear by WebSocket. The front server that
--  HTTP.md configures has their connections, and is told on the port PUBLISHER.

with Appserver.HTTP.Server;
with Conversation;
with Serving;

procedure Chat is
   Web : Appserver.HTTP.Server.Web_Server;
begin
   Web.Start (Conversation'Access, Port => Serving.Port);
   Serving.Until_Input_Ends (Web);
end Chat;
