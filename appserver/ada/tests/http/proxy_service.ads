--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Handlers that respond with the client's address, scheme and host, as reported by a proxy:
--  "ADDRESS SCHEME HOST".

with Appserver.HTTP;
with Appserver.IP_Addresses;

package Proxy_Service is

   use Appserver;

   Trusted : constant IP_Addresses.Block_List :=
     [IP_Addresses.Block ("10.0.0.0/8"),
      IP_Addresses.Block ("127.0.0.1"),
      IP_Addresses.Block ("2001:db8:aa00::/40")];

   function Forwarded (Request : HTTP.Request) return HTTP.Response;
   function X_Forwarded (Request : HTTP.Request) return HTTP.Response;

end Proxy_Service;
