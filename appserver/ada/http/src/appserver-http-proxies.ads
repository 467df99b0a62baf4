--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  For servers behind proxies: the client that a proxy asks for, as it says in Forwarded (RFC 7239)
--  or in X-Forwarded-For, -Proto and -Host.
--
--  Anyone can send these fields. So they are read from the right, and only as far as the program
--  trusts those who wrote them: the client is the first address, from the connection's on, that is
--  not one of a trusted proxy. What is to the left of it, the client may have invented.
--
--     Ours : constant IP_Addresses.Block_List :=
--       [IP_Addresses.Block ("10.0.0.0/8"), IP_Addresses.Block ("::1")];
--     …
--     Client : constant IP_Addresses.Address :=
--       Proxies.Client_Address (Request, Ours, Proxies.X_Forwarded);
--
--  A proxy that is trusted must add to the fields that are read, or replace them, in each request.

pragma Ada_2022;

package Appserver.HTTP.Proxies is

   type Field_Family is (Forwarded, X_Forwarded);
   --  What the proxies write. The other family is not looked at: they would pass it on unseen.

   function Client_Address
     (Request : HTTP.Request;
      Trusted : IP_Addresses.Block_List;
      Fields  : Field_Family) return IP_Addresses.Address;
   --  The connection's, if that is not Trusted. Where the next element to the left is none, or
   --  names no address ("unknown", "_hidden", malformed): the last one that was found.

   type Scheme_Kind is (HTTP_Scheme, HTTPS_Scheme);

   function Scheme
     (Request : HTTP.Request;
      Trusted : IP_Addresses.Block_List;
      Fields  : Field_Family) return Scheme_Kind;
   --  That the client used, as the proxy says that named the client. HTTP if none does.

   function Host
     (Request : HTTP.Request;
      Trusted : IP_Addresses.Block_List;
      Fields  : Field_Family) return String;
   --  That the client asked for, by the same proxy; Request.Host if it names none, or no valid one

end Appserver.HTTP.Proxies;
