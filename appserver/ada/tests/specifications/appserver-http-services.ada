with Appserver.HTTP.Services;

package Ordering is

   use Appserver;

   type Order_Pool is limited null record;

   @1

   @2

   @3

end Ordering;

package body Ordering is

   overriding function Respond
     (Self : in out Shop; Request : HTTP.Request) return HTTP.Response is
     (if Request.Path_Is ("/") then HTTP.Status_Only (HTTP.No_Content)
      else HTTP.Status_Only (HTTP.Not_Found));

end Ordering;

with Appserver.HTTP.Server;
with Ordering;

procedure Ordering_Server is

   use Appserver;
   use Ordering;

   Server : HTTP.Server.Web_Server;
begin
   @4
end Ordering_Server;
