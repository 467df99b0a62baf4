--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

with Appserver.HTTP.Proxies;

package body Proxy_Service is

   use Appserver.HTTP;

   function Respond (Request : HTTP.Request; Fields : Proxies.Field_Family) return Response is
      Builder : Response_Builder renames Request.Builder.all;
   begin
      Builder.Append
        (IP_Addresses.Image (Proxies.Client_Address (Request, Trusted, Fields)));
      Builder.Append
        (case Proxies.Scheme (Request, Trusted, Fields) is
            when Proxies.HTTP_Scheme => " http ", when Proxies.HTTPS_Scheme => " https ");
      Builder.Append (Proxies.Host (Request, Trusted, Fields));
      return Text_Response (Plain_Text'Access);
   end Respond;

   function Forwarded (Request : HTTP.Request) return Response is
     (Respond (Request, Proxies.Forwarded));
   function X_Forwarded (Request : HTTP.Request) return Response is
     (Respond (Request, Proxies.X_Forwarded));

end Proxy_Service;
