@… null record;
@… HTTP.Status_Only (HTTP.No_Content)
with Appserver.HTTP.Multipart;

package Gallery is

   use Appserver;
   use type HTTP.Multipart.Outcome;

   @1

   @2

end Gallery;

package body Gallery is

   overriding procedure Begin_Part (Self : in out Gallery_Upload) is null;
   overriding procedure Receive_Part (Self : in out Gallery_Upload; Bytes : String) is null;
   overriding procedure End_Part (Self : in out Gallery_Upload) is null;

end Gallery;
