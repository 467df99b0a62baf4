--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  A chat with rooms over WebSocket. What one client sends, all clients in the room get.

with Appserver.HTTP;

package Conversation is

   function Respond (Request : Appserver.HTTP.Request) return Appserver.HTTP.Response;
   --  Responds to "/" with a page, and to "/socket?room=NAME" with a connection

end Conversation;
