--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

with Appserver.HTTP.Files;
with Appserver.HTTP.Proxies;
with Appserver.HTTP.TLS;
with Appserver.IP_Addresses;

package body Connection_Service is

   use Appserver.HTTP;

   Trusted : constant IP_Addresses.Block_List :=
     [IP_Addresses.Block ("127.0.0.1"), IP_Addresses.Block ("::")];

   Large : aliased constant String := [1 .. 2 ** 20 => 'L'];

   function Connection (Request : HTTP.Request) return Response is
      Builder : Response_Builder renames Request.Builder.all;
   begin
      Builder.Append (if Request.Is_Secure then "secure " else "plain ");
      Builder.Append (IP_Addresses.Image (Request.Client_Address));
      Builder.Append (' ');
      Builder.Append
        (IP_Addresses.Image
           (Proxies.Client_Address (Request, Trusted, Proxies.X_Forwarded)));
      Builder.Append
        (case Proxies.Scheme (Request, Trusted, Proxies.X_Forwarded) is
            when Proxies.HTTP_Scheme => " http", when Proxies.HTTPS_Scheme => " https");
      return Text_Response (Plain_Text'Access);
   end Connection;

   function Details (Request : HTTP.Request) return Response is
   begin
      Request.Builder.Append (TLS.Version (Request));
      Request.Builder.Append (' ');
      Request.Builder.Append (TLS.Client_Subject (Request));
      return Text_Response (Plain_Text'Access);
   end Details;

   Site : Files.Folder;

   procedure Open_Folder (Path : String) is
   begin
      Site.Open (Path);
   end Open_Folder;

   overriding function Respond
     (Self : in out Service; Request : HTTP.Request) return HTTP.Response is
     (if Request.Path_Is ("/connection") then Connection (Request)
      elsif Request.Path_Is ("/tls") then Details (Request)
      elsif Request.Path_Is ("/large") then Static_Response (Plain_Text'Access, Large'Access)
      elsif Site.Is_Open and then Request.Path_Starts_With ("/files/")
      then Site.Respond (Request, "/files/")
      else Web_Services.Web_Service (Self).Respond (Request));

end Connection_Service;
