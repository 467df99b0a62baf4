--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Serves the responses of the examples in http/README.md and http/REST.md, files, and responses
--  that allocate heap memory.

with Appserver.HTTP.Access_Logs;
with Appserver.HTTP.Compression;
with Appserver.HTTP.Services;

package Counted_Service is

   use Appserver;

   procedure Open (Folder : String);
   --  Opens the directory that is served at /files/

   function Respond (Request : HTTP.Request) return HTTP.Response;
   --  Responds to requests. The path /new allocates heap memory, and /raise raises an exception.

   type Counted is limited new HTTP.Services.Content_Service with null record;

   overriding function Policy_For
     (Self : in out Counted; Request : HTTP.Request) return HTTP.Services.Content_Policy;
   overriding function Respond
     (Self : in out Counted; Request : HTTP.Request) return HTTP.Response;

   Service : aliased Counted;
   --  A service that responds like the function Respond, and also handles the paths of
   --  Stream_Services

   Compressed : aliased HTTP.Compression.Gzip_Filter (Service'Access, Compressors => 1);

   Log : aliased HTTP.Access_Logs.Access_Log (Lines => 16);
   --  A log that writes to the file access.log in the directory that was passed to Open

end Counted_Service;
