with Appserver.HTTP.TLS;

package Securing is

   use Appserver;

   function Hello (Request : HTTP.Request) return HTTP.Response is
     (if Request.Path_Is ("/") then HTTP.Status_Only (HTTP.No_Content)
      else HTTP.Status_Only (HTTP.Not_Found));

   @1

end Securing;

with Appserver.HTTP.Listeners;
with Appserver.HTTP.Server;
with Appserver.HTTP.TLS;
with Securing;

procedure Securing_Server is

   use Appserver;
   use Securing;

   Server : HTTP.Server.Web_Server;
begin
   @2
   @3
end Securing_Server;
