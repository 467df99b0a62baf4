with Appserver.HTTP.Embedded;

package Device is

   use Appserver;

   function Hello (Request : HTTP.Request) return HTTP.Response is
     (if Request.Path_Is ("/") then HTTP.Empty (HTTP.No_Content)
      else HTTP.Empty (HTTP.Not_Found));

   @1

end Device;

with Device;

procedure Serving_Device is
   use Device;
begin
   @2
end Serving_Device;
