--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  The responses of a server, without a server: for tests of handlers.

pragma Ada_2022;

with Appserver.HTTP.Services;

package Appserver.HTTP.Trials is

   function Responses
     (Handle : Handler;
      Bytes  : String;
      Client : IP_Addresses.Address := IP_Addresses.No_Address) return String;
   --  To the requests in Bytes, with the limits that servers have. Their Date is that of the
   --  beginning of 1970. An incomplete request at the end of Bytes gets no response. A receiver
   --  gets content in one piece.

   function Responses
     (Service : not null Services.Service_Reference;
      Bytes   : String;
      Client  : IP_Addresses.Address := IP_Addresses.No_Address) return String;

end Appserver.HTTP.Trials;
