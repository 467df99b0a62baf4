with Appserver.HTTP.Channels.Events;

package Viewing is

   use Appserver;
   use Appserver.HTTP;

   Clients : HTTP.Channels.Group;

   function Respond (Request : HTTP.Request) return HTTP.Response;

end Viewing;

package body Viewing is

   @1

end Viewing;
