--  SPDX-License-Identifier: Apache-2.0

with Appserver.HTTP.Proxies;
with Appserver.IP_Addresses;
with Proxy_Service;

package body Web_Services is

   use Appserver.HTTP;

   protected body Counter is
      procedure Increment (Value : out Long_Long_Integer) is
      begin
         Count := Count + 1;
         Value := Count;
      end Increment;
   end Counter;

   function Address (Request : HTTP.Request) return Response is
   begin
      Request.Draft.Append (IP_Addresses.Image (Request.Client_Address));
      return Written (Plain_Text'Access);
   end Address;

   function Count (Self : in out Web_Service; Request : HTTP.Request) return Response is
      Value : Long_Long_Integer;
   begin
      Self.Requests.Increment (Value);
      Request.Draft.Append (Value);
      return Written (Plain_Text'Access);
   end Count;

   overriding function Answer
     (Self : in out Web_Service; Request : HTTP.Request) return HTTP.Response is
     (if Request.Path_Is ("/address") then Address (Request)
      elsif Request.Path_Is ("/forwarded") then Proxy_Service.Forwarded (Request)
      elsif Request.Path_Is ("/x-forwarded") then Proxy_Service.X_Forwarded (Request)
      elsif Request.Path_Is ("/count") then Count (Self, Request)
      else Empty (Not_Found));

   function Client (Request : HTTP.Request) return IP_Addresses.Address is
     (Proxies.Client_Address (Request, Proxy_Service.Trusted, Proxies.X_Forwarded));

   procedure Open_Log (Path, Format : String) is
   begin
      Log.Open (Path, Access_Logs.Line_Format'Value (Format), Client'Access);
   end Open_Log;

end Web_Services;
