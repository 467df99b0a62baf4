--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  chat PORT: a chat over WebSocket

with Appserver.HTTP.Server;
with Conversation;
with Serving;

procedure Chat is
   Web : Appserver.HTTP.Server.Web_Server;
begin
   Web.Start (Conversation.Respond'Access, Port => Serving.Port);
   Serving.Until_Input_Ends (Web);
end Chat;
