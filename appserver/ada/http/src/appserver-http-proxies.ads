--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  For servers behind proxies: the client for which a proxy sends a request, as named in Forwarded
--  (RFC 7239) or in X-Forwarded-For, -Proto and -Host.
--
--  Anyone can send these fields. So they are read from right to left, and only as far as the
--  program trusts the proxies that wrote them: the client is the first address, beginning with that
--  of the connection, that is not a trusted proxy's. The client may have invented everything to the
--  left of it.
--
--     Own_Proxies : constant IP_Addresses.Block_List :=
--       [IP_Addresses.Block ("10.0.0.0/8"), IP_Addresses.Block ("::1")];
--     …
--     Client : constant IP_Addresses.Address :=
--       Proxies.Client_Address (Request, Own_Proxies, Proxies.X_Forwarded);
--
--  A proxy that is trusted must add to the fields that are read, or replace them, in each request.

pragma Ada_2022;

package Appserver.HTTP.Proxies is

   type Field_Family is (Forwarded, X_Forwarded);
   --  The fields that the trusted proxies write. The other family is ignored: proxies pass it on as
   --  the client sent it.

   function Client_Address
     (Request : HTTP.Request;
      Trusted : IP_Addresses.Block_List;
      Fields  : Field_Family) return IP_Addresses.Address;
   --  The address of the connection, if it is not Trusted; else the first address, from the right,
   --  that is not. If an element names no address ("unknown", "_hidden", malformed), or none is
   --  left, the last address before.

   type Scheme_Kind is (HTTP_Scheme, HTTPS_Scheme);

   function Scheme
     (Request : HTTP.Request;
      Trusted : IP_Addresses.Block_List;
      Fields  : Field_Family) return Scheme_Kind;
   --  The scheme that the client used, by the proxy that named the client. HTTP if it names none.

   function Host
     (Request : HTTP.Request;
      Trusted : IP_Addresses.Block_List;
      Fields  : Field_Family) return String;
   --  The host that the client asked for, by the same proxy; Request.Host if it names no valid one

end Appserver.HTTP.Proxies;
