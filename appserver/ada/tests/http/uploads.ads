--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Counts the lines of an upload, and streams a response. Receivers and sources are on the heap.

with Appserver.HTTP.Services;

package Uploads is

   use Appserver;

   type Upload is limited new HTTP.Services.Content_Receiver with record
      Length : Long_Long_Integer := 0;
      Lines  : Long_Long_Integer := 0;
   end record;

   overriding procedure Receive (Self : in out Upload; Bytes : String; Wants_More : in out Boolean);
   overriding function Respond (Self : in out Upload; Request : HTTP.Request) return HTTP.Response;
   overriding procedure Close (Self : not null access Upload);

   type Counting is limited new HTTP.Content_Source with record
      Next : Long_Long_Integer := 1;
      Last : Long_Long_Integer;
   end record;

   overriding procedure Read (Self : in out Counting; Into : out String; Count : out Natural);
   overriding procedure Close (Self : not null access Counting);

   type Upload_Service is limited new HTTP.Services.Content_Service with null record;

   overriding function Policy_For
     (Self : in out Upload_Service; Request : HTTP.Request) return HTTP.Services.Content_Policy;
   overriding function Respond
     (Self : in out Upload_Service; Request : HTTP.Request) return HTTP.Response;

   Service : aliased Upload_Service;

end Uploads;
