--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  A service with state, which tests/http tests through sockets.

with Appserver.HTTP.Access_Logs;
with Appserver.HTTP.Compression;
with Appserver.HTTP.Services;

package Web_Services is

   use Appserver;

   protected type Counter is
      procedure Increment (Value : out Long_Long_Integer);
   private
      Count : Long_Long_Integer := 0;
   end Counter;

   type Web_Service is limited new HTTP.Services.Content_Service with record
      Requests : Counter;
   end record;

   overriding function Policy_For
     (Self : in out Web_Service; Request : HTTP.Request) return HTTP.Services.Content_Policy;
   --  Returns the policy of Stream_Services

   overriding function Respond
     (Self : in out Web_Service; Request : HTTP.Request) return HTTP.Response;
   --  Responds to a request by its path. /address: the address of the connection. /forwarded,
   --  /x-forwarded: the response of Proxy_Service. /count: the number of requests for /count to
   --  this service. /cookies, /form: a line "NAME=VALUE" in hexadecimal for each cookie or field.
   --  /set-cookie?name=N&value=V: a response that sets a cookie. /site/: files, if a site is open.
   --  Other paths: the response of Stream_Services.

   Shared_Service : aliased Web_Service;
   --  The service that tests of the embedded profile use

   Compressed : aliased HTTP.Compression.Gzip_Filter (Shared_Service'Access, Compressors => 2);

   procedure Open_Site (Path : String);
   --  Opens a site with index files, precompressed files, and the Cache-Control "public,
   --  max-age=60"

   Log : aliased HTTP.Access_Logs.Access_Log (Lines => 32);

   procedure Open_Log (Path, Format : String);
   --  Opens a log of the addresses of clients behind trusted proxies

end Web_Services;
