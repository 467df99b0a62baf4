with Appserver.HTTP;

package Listening is

   use Appserver;

   function Hello (Request : HTTP.Request) return HTTP.Response is
     (if Request.Path_Is ("/") then HTTP.Status_Only (HTTP.No_Content)
      else HTTP.Status_Only (HTTP.Not_Found));

end Listening;

with Appserver.HTTP.Listeners;
with Appserver.HTTP.Server;
with Listening;

procedure Listening_Server is

   use Appserver.HTTP;
   use Listening;

   Server : Appserver.HTTP.Server.Web_Server;
begin
   @1
end Listening_Server;
