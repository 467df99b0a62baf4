with Appserver.HTTP.Filters;
with Appserver.HTTP.Services;

package Guarding is

   use Appserver;

   type Shop is limited new HTTP.Services.Service with null record;

   overriding function Respond
     (Self : in out Shop; Request : HTTP.Request) return HTTP.Response is
     (if Request.Path_Is ("/") then HTTP.Status_Only (HTTP.No_Content)
      else HTTP.Status_Only (HTTP.Not_Found));

   @1

   @2

   @3

end Guarding;

package body Guarding is

   use HTTP;

   overriding procedure Before
     (Self         : in out Guard;
      Request      : HTTP.Request;
      Response     : in out HTTP.Response;
      Has_Response : in out Boolean) is
   begin
      if not Request.Has_Field ("Authorization") then
         Response     := Status_Only (Unauthorized);
         Has_Response := True;
      end if;
   end Before;

end Guarding;

with Appserver.HTTP.Server;
with Guarding;

procedure Guarding_Server is

   use Appserver;
   use Guarding;

   Server : HTTP.Server.Web_Server;
begin
   @4
end Guarding_Server;
