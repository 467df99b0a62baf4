with Appserver.HTTP.Embedded;

package Device is

   use Appserver;

   function Hello (Request : HTTP.Request) return HTTP.Response is
     (if Request.Path_Is ("/") then HTTP.Status_Only (HTTP.No_Content)
      else HTTP.Status_Only (HTTP.Not_Found));

   @1

end Device;

with Device;

procedure Serving_Device is
   use Device;
begin
   @2
end Serving_Device;
