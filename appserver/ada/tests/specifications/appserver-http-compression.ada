with Appserver.HTTP.Compression;
with Appserver.HTTP.Services;

package Compressing is

   use Appserver;

   type Shop is limited new HTTP.Services.Service with null record;

   overriding function Respond
     (Self : in out Shop; Request : HTTP.Request) return HTTP.Response is
     (if Request.Path_Is ("/") then HTTP.Status_Only (HTTP.No_Content)
      else HTTP.Status_Only (HTTP.Not_Found));

   @1

end Compressing;

with Appserver.HTTP.Server;
with Compressing;

procedure Compressing_Server is

   use Appserver;
   use Compressing;

   Server : HTTP.Server.Web_Server;
begin
   @2
end Compressing_Server;
