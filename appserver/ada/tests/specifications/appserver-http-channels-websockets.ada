with Appserver.HTTP.Channels.WebSockets;

package Echoing is

   use Appserver;
   use Appserver.HTTP;

   @1

   @2

   @3

   function Respond (Request : HTTP.Request) return HTTP.Response;

end Echoing;

package body Echoing is

   overriding procedure On_Message
     (Self    : in out Echo;
      Socket  : Channels.Channel;
      Message : String;
      Kind    : Channels.WebSockets.Message_Kind)
   is
      pragma Unreferenced (Self);
      Result : Channels.Send_Result;
   begin
      Channels.WebSockets.Send (Socket, Message, Kind, Result);
   end On_Message;

   function Respond (Request : HTTP.Request) return HTTP.Response is
   begin
      @4
   end Respond;

end Echoing;
