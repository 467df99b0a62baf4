--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

with Appserver.HTTP.Proxies;

package body Proxy_Service is

   use Appserver.HTTP;

   function Answer (Request : HTTP.Request; Fields : Proxies.Field_Family) return Response is
      Draft : Answer_Draft renames Request.Draft.all;
   begin
      Draft.Append
        (IP_Addresses.Image (Proxies.Client_Address (Request, Trusted, Fields)));
      Draft.Append
        (case Proxies.Scheme (Request, Trusted, Fields) is
            when Proxies.HTTP_Scheme => " http ", when Proxies.HTTPS_Scheme => " https ");
      Draft.Append (Proxies.Host (Request, Trusted, Fields));
      return Written (Plain_Text'Access);
   end Answer;

   function Forwarded (Request : HTTP.Request) return Response is
     (Answer (Request, Proxies.Forwarded));
   function X_Forwarded (Request : HTTP.Request) return Response is
     (Answer (Request, Proxies.X_Forwarded));

end Proxy_Service;
