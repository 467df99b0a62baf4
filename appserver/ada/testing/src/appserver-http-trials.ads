--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Calls handlers in tests without a server, and returns the bytes that a server would send.

pragma Ada_2022;

with Appserver.HTTP.Services;

package Appserver.HTTP.Trials is

   function Responses
     (Handle : Handler;
      Bytes  : String;
      Client : IP_Addresses.Address := IP_Addresses.No_Address) return String;
   --  Returns the responses to requests, with a server's default limits. The header field Date is
   --  always the beginning of 1970.
   --  @param Handle the handler
   --  @param Bytes the requests. An incomplete request at the end gets no response. A content
   --  receiver gets the whole content in one call.
   --  @param Client the address of the client
   --  @return the bytes of all responses

   function Responses
     (Service : not null Services.Service_Reference;
      Bytes   : String;
      Client  : IP_Addresses.Address := IP_Addresses.No_Address) return String;
   --  Returns the responses to requests, like the function above, but for a service.
   --  @param Service the service
   --  @param Bytes the requests
   --  @param Client the address of the client
   --  @return the bytes of all responses

end Appserver.HTTP.Trials;
