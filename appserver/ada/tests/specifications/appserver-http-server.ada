with Appserver.HTTP;

package Simple is

   use Appserver;

   function Hello (Request : HTTP.Request) return HTTP.Response is
     (if Request.Path_Is ("/") then HTTP.Status_Only (HTTP.No_Content)
      else HTTP.Status_Only (HTTP.Not_Found));

end Simple;

with Appserver.HTTP.Server;
with Simple;

procedure Simple_Server is

   use Appserver;
   use Simple;

   @1
begin
   @2
   @3
end Simple_Server;
