with Appserver.HTTP.Monitoring;
with Appserver.HTTP.Services;
with Appserver.Monitors;

package Counting is

   use Appserver;

   type Shop is limited new HTTP.Services.Service with null record;

   overriding function Respond
     (Self : in out Shop; Request : HTTP.Request) return HTTP.Response is
     (if Request.Path_Is ("/") then HTTP.Status_Only (HTTP.No_Content)
      else HTTP.Status_Only (HTTP.Not_Found));

   @1

end Counting;

with Appserver.HTTP.Server;
with Counting;

procedure Counting_Server is

   use Appserver;
   use Counting;

   Server, Own_Server : HTTP.Server.Web_Server;
begin
   @2
end Counting_Server;
