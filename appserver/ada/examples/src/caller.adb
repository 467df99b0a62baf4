--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

with Appserver.HTTP.Proxies;
with Appserver.IP_Addresses;

function Caller (Request : Appserver.HTTP.Request) return Appserver.HTTP.Response is

   use Appserver;

   Own_Proxies : constant IP_Addresses.Block_List := [IP_Addresses.Block ("127.0.0.1/32")];

   Client : constant IP_Addresses.Address :=
     HTTP.Proxies.Client_Address (Request, Own_Proxies, HTTP.Proxies.X_Forwarded);

begin
   Request.Builder.Append
     (IP_Addresses.Image (Client) & ' '
      & HTTP.Proxies.Scheme (Request, Own_Proxies, HTTP.Proxies.X_Forwarded)'Image & ' '
      & HTTP.Proxies.Host (Request, Own_Proxies, HTTP.Proxies.X_Forwarded));
   return HTTP.Text_Response (HTTP.Plain_Text'Access);
end Caller;
