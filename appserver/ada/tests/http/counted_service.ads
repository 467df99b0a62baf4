--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  What the examples of HTTP.md and REST.md answer, files, and what takes memory from the heap.

with Appserver.HTTP.Access_Logs;
with Appserver.HTTP.Compression;
with Appserver.HTTP.Services;

package Counted_Service is

   use Appserver;

   procedure Open (Folder : String);
   --  Opens the folder that is served at /files/

   function Respond (Request : HTTP.Request) return HTTP.Response;
   --  /new takes something from the heap, /raise raises an exception

   type Counted is limited new HTTP.Services.Content_Service with null record;

   overriding function Policy_For
     (Self : in out Counted; Request : HTTP.Request) return HTTP.Services.Content_Policy;
   overriding function Respond
     (Self : in out Counted; Request : HTTP.Request) return HTTP.Response;

   Service : aliased Counted;
   --  The same, and what Stream_Services has

   Compressed : aliased HTTP.Compression.Gzip_Filter (Service'Access, Compressors => 1);

   Log : aliased HTTP.Access_Logs.Access_Log (Lines => 16);
   --  To the file access.log of the folder

end Counted_Service;
