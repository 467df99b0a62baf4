--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Finds the client behind reverse proxies, from Forwarded (RFC 7239) or from X-Forwarded-For,
--  -Proto and -Host.
--
--  Anyone can send these fields. So they are read from right to left, and only as far as the
--  program trusts the proxies that wrote them: the client is the first address, beginning with that
--  of the connection, that does not belong to a trusted proxy. The client may have invented
--  everything to the left of it.
--
--     Own_Proxies : constant IP_Addresses.Block_List :=
--       [IP_Addresses.Block ("10.0.0.0/8"), IP_Addresses.Block ("::1")];
--     …
--     Client : constant IP_Addresses.Address :=
--       Proxies.Client_Address (Request, Own_Proxies, Proxies.X_Forwarded);
--
--  A trusted proxy must add to these fields, or replace them, in each request.

pragma Ada_2022;

package Appserver.HTTP.Proxies is

   type Field_Family is (Forwarded, X_Forwarded);
   --  The fields that the trusted proxies write. The other family is ignored, since proxies pass it
   --  on as the client sent it.

   function Client_Address
     (Request : HTTP.Request;
      Trusted : IP_Addresses.Block_List;
      Fields  : Field_Family) return IP_Addresses.Address;
   --  Finds the address of the client.
   --  @param Request the request
   --  @param Trusted the addresses of trusted proxies
   --  @param Fields the fields that these proxies write
   --  @return the address of the connection if it is not trusted, else the first untrusted address
   --  from the right. If an element has no valid address ("unknown", "_hidden"), or none is left,
   --  the last address before it.

   type Scheme_Kind is (HTTP_Scheme, HTTPS_Scheme);

   function Scheme
     (Request : HTTP.Request;
      Trusted : IP_Addresses.Block_List;
      Fields  : Field_Family) return Scheme_Kind;
   --  Finds the scheme that the client used, as reported by the proxy that reported the client.
   --  @param Request the request
   --  @param Trusted the addresses of trusted proxies
   --  @param Fields the fields that these proxies write
   --  @return the scheme; HTTP_Scheme if the proxy reports none

   function Host
     (Request : HTTP.Request;
      Trusted : IP_Addresses.Block_List;
      Fields  : Field_Family) return String;
   --  Finds the host that the client addressed, as reported by the same proxy.
   --  @param Request the request
   --  @param Trusted the addresses of trusted proxies
   --  @param Fields the fields that these proxies write
   --  @return the host; Request.Host if the proxy reports no valid one

end Appserver.HTTP.Proxies;
