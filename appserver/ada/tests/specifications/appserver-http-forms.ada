with Appserver.HTTP.Forms;

package Form_Reading is

   use Appserver;

   function Respond (Request : HTTP.Request) return HTTP.Response;

end Form_Reading;

package body Form_Reading is

   function Respond (Request : HTTP.Request) return HTTP.Response is

      use type HTTP.Forms.Outcome;

      @1
   begin
      @2
      return HTTP.Status_Only (HTTP.No_Content);
   end Respond;

end Form_Reading;
