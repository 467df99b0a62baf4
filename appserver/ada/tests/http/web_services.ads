--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  A service with a state, which tests/http asks through sockets.

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
   --  The policy of Stream_Services

   overriding function Respond
     (Self : in out Web_Service; Request : HTTP.Request) return HTTP.Response;
   --  /address: the connection's. /forwarded, /x-forwarded: as Proxy_Service. /count: how often
   --  this service was asked for it. /cookies, /form: a line "NAME=VALUE" in hexadecimal digits for
   --  each. /set-cookie?name=N&value=V. /site/: files, if there are. Others: Stream_Services

   Shared_Service : aliased Web_Service;
   --  The service of the embedded profile

   Compressed : aliased HTTP.Compression.Gzip_Filter (Shared_Service'Access, Compressors => 2);

   procedure Open_Site (Path : String);
   --  With index files, files that are compressed already, and "public, max-age=60"

   Log : aliased HTTP.Access_Logs.Access_Log (Lines => 32);

   procedure Open_Log (Path, Format : String);
   --  The log has the addresses of clients behind trusted proxies

end Web_Services;
