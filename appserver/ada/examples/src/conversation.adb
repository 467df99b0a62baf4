--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

with Ada.Command_Line;
with Ada.Strings.Fixed;
with Appserver.HTTP;
with Appserver.UTF_8;
with GNAT.Sockets;

function Conversation (Request : Appserver.HTTP.Request) return Appserver.HTTP.Response is

   use Appserver;
   use Appserver.HTTP;
   use GNAT.Sockets;

   End_Line : constant String := [ASCII.CR, ASCII.LF];
   Wait     : constant Duration := 2.0;

   --  Publishes Text to all subscribers of the room, and returns the status of the reverse proxy's
   --  response

   function Publish_Status (Room, Text : String) return String is
      Length  : constant String := Ada.Strings.Fixed.Trim (Text'Length'Image, Ada.Strings.Left);
      Front   : Socket_Type;
      Channel : Stream_Access;
   begin
      Create_Socket (Front);
      Set_Socket_Option (Front, Socket_Level, (Receive_Timeout, Wait));
      Set_Socket_Option (Front, Socket_Level, (Send_Timeout, Wait));
      Connect_Socket
        (Front, Network_Socket_Address
           (Loopback_Inet_Addr, Port_Type'Value (Ada.Command_Line.Argument (2))));
      Channel := Stream (Front);
      String'Write
        (Channel,
         "POST /tell/" & Room & " HTTP/1.1" & End_Line & "Host: localhost" & End_Line
         & "Content-Length: " & Length & End_Line & "Connection: close" & End_Line
         & End_Line & Text);
      return Response : String (1 .. 12) do
         String'Read (Channel, Response);
         Free (Channel);
         Close_Socket (Front);
      end return;
   exception
      when others =>
         Free (Channel);
         Close_Socket (Front);
         raise;
   end Publish_Status;

   function Response_To_Say (Room, Text : String) return Response is
     (if Text = "" or else not UTF_8.Is_Valid (Text) then Status_Only (Bad_Request)
      elsif Publish_Status (Room, Text) (10) = '2' then Status_Only (No_Content)
      else Status_Only (Service_Unavailable));

   function Is_Open (Room : String) return Boolean is
     (Room'Length in 1 .. 20 and then (for all C of Room => C in 'a' .. 'z')
      and then Room /= "closed");

   Room : constant String := Request.Parameter ("room");

begin
   return
     (if not Is_Open (Room) then Status_Only (Forbidden)
      elsif Request.Path_Is ("/may-hear") then Status_Only (OK)
      elsif Request.Path_Is ("/say") and then Request.Method = Post
      then Response_To_Say (Room, Request.Content)
      else Status_Only (Not_Found));
end Conversation;
