--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Finds the client behind reverse proxies, from the header field Forwarded (RFC 7239), or from
--  X-Forwarded-For, X-Forwarded-Proto and X-Forwarded-Host.
--
--  Anyone can send these fields. So they are read from right to left, and only as far as the
--  program trusts the proxies that wrote them. The client is the first address that does not belong
--  to a trusted proxy, starting with the address of the connection. The client may have forged
--  everything to the left of this address.
--
--     Own_Proxies : constant IP_Addresses.Block_List :=
--       [IP_Addresses.Block ("10.0.0.0/8"), IP_Addresses.Block ("::1")];
--     …
--     Client : constant IP_Addresses.Address :=
--       Proxies.Client_Address (Request, Own_Proxies, Proxies.X_Forwarded);
--
--  A trusted proxy must append to these fields, or replace them, in each request.
--
--  The address of a proxy that is connected to a Unix socket is IP_Addresses.No_Address, so
--  IP_Addresses.Block ("::") trusts all processes that may write to the socket, and nobody else.

pragma Ada_2022;

package Appserver.HTTP.Proxies is

   type Field_Family is (Forwarded, X_Forwarded);
   --  The header fields that the trusted proxies write: Forwarded (RFC 7239), or the X-Forwarded
   --  fields. The fields of the other family are ignored, since the proxies forward them unchanged
   --  from the client.

   function Client_Address
     (Request : HTTP.Request;
      Trusted : IP_Addresses.Block_List;
      Fields  : Field_Family) return IP_Addresses.Address;
   --  Finds the address of the client.
   --  @param Request the request
   --  @param Trusted the addresses of trusted proxies
   --  @param Fields the fields that these proxies write
   --  @return the address of the connection if it is not trusted; otherwise, the first untrusted
   --  address, read from the right. Reading stops at an element without a valid address ("unknown",
   --  "_hidden"). If no untrusted address was found, the result is the last valid address that was
   --  read.

   type Scheme_Kind is (HTTP_Scheme, HTTPS_Scheme);

   function Scheme
     (Request : HTTP.Request;
      Trusted : IP_Addresses.Block_List;
      Fields  : Field_Family) return Scheme_Kind;
   --  Returns the scheme that the client used. The scheme comes from the same proxy as the client's
   --  address. Without a trusted proxy, it depends on Request.Is_Secure.
   --  @param Request the request
   --  @param Trusted the addresses of trusted proxies
   --  @param Fields the fields that these proxies write
   --  @return the scheme; HTTP_Scheme if the proxy reports the client, but not the scheme

   function Host
     (Request : HTTP.Request;
      Trusted : IP_Addresses.Block_List;
      Fields  : Field_Family) return String;
   --  Returns the host that the client requested. The host comes from the same proxy as the
   --  client's address.
   --  @param Request the request
   --  @param Trusted the addresses of trusted proxies
   --  @param Fields the fields that these proxies write
   --  @return the host; Request.Host if the proxy does not report a valid host

end Appserver.HTTP.Proxies;
