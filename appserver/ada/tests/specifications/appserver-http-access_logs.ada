with Appserver.HTTP.Access_Logs;

package Logged is

   use Appserver;

   function Hello (Request : HTTP.Request) return HTTP.Response is
     (if Request.Path_Is ("/") then HTTP.Status_Only (HTTP.No_Content)
      else HTTP.Status_Only (HTTP.Not_Found));

   @1

end Logged;

with Appserver.HTTP.Access_Logs;
with Appserver.HTTP.Server;
with Logged;

procedure Logging_Server is

   use Appserver;
   use Logged;

   Server : HTTP.Server.Web_Server;
begin
   @2
end Logging_Server;
