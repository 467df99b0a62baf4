with Appserver.HTTP.Proxies;
with Appserver.IP_Addresses;

package Behind_Proxies is

   use Appserver;
   use Appserver.HTTP;

   @1

   function Is_Local (Request : HTTP.Request) return Boolean;

end Behind_Proxies;

package body Behind_Proxies is

   use type IP_Addresses.Address;

   function Is_Local (Request : HTTP.Request) return Boolean is
      @2
   begin
      return Client = IP_Addresses.Value ("127.0.0.1");
   end Is_Local;

end Behind_Proxies;
