with Appserver.HTTP.Forms;

package Form_Reading is

   use Appserver;

   function Answer (Request : HTTP.Request) return HTTP.Response;

end Form_Reading;

package body Form_Reading is

   function Answer (Request : HTTP.Request) return HTTP.Response is

      use type HTTP.Forms.Outcome;

      @1
   begin
      @2
      return HTTP.Empty (HTTP.No_Content);
   end Answer;

end Form_Reading;
