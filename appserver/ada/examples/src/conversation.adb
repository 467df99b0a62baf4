--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

with Appserver.HTTP.Channels.WebSockets;

package body Conversation is

   use Appserver.HTTP;
   use Appserver.HTTP.Channels;

   type Room_Name is (Garden, Cellar);

   type Room is limited new WebSockets.Session with record
      Members : Group;
   end record;

   overriding procedure On_Open (Self : in out Room; Socket : Channel);
   overriding procedure On_Message
     (Self    : in out Room;
      Socket  : Channel;
      Message : String;
      Kind    : WebSockets.Message_Kind);

   overriding procedure On_Open (Self : in out Room; Socket : Channel) is
   begin
      Self.Members.Add (Socket);
   end On_Open;

   overriding procedure On_Message
     (Self    : in out Room;
      Socket  : Channel;
      Message : String;
      Kind    : WebSockets.Message_Kind)
   is
      use type WebSockets.Message_Kind;
   begin
      if Kind = WebSockets.Text then
         Self.Members.Broadcast (WebSockets.Text_Message (Message));
      else
         WebSockets.Close (Socket, WebSockets.Unsupported_Data, "this chat is for text");
      end if;
   end On_Message;

   Rooms : array (Room_Name) of aliased Room;

   HTML : aliased constant String := "text/html; charset=utf-8";

   Page : aliased constant String :=
     "<!doctype html><meta charset=""utf-8""><title>Chat</title><ul></ul><input autofocus>"
     & "<script>"
     & "const address = location.href.replace('http', 'ws') + 'socket?room=garden';"
     & "const socket = new WebSocket(address);"
     & "const input = document.querySelector('input');"
     & "socket.onmessage = event => document.querySelector('ul')"
     & ".appendChild(document.createElement('li')).textContent = event.data;"
     & "input.onchange = () => { socket.send(input.value); input.value = ''; };"
     & "</script>";

   function Enter (Request : Appserver.HTTP.Request; Name : String) return Response is
     (if Name = "garden" then WebSockets.Open (Request, Rooms (Garden)'Access)
      elsif Name = "cellar" then WebSockets.Open (Request, Rooms (Cellar)'Access)
      else Status_Only (Not_Found));

   function Respond (Request : Appserver.HTTP.Request) return Response is
     (if Request.Path_Is ("/") then Static_Response (HTML'Access, Page'Access)
      elsif Request.Path_Is ("/socket") then Enter (Request, Request.Parameter ("room"))
      else Status_Only (Not_Found));

end Conversation;
