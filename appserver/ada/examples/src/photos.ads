--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Stores photos of any size from a browser's form in a directory, one file for each part with a
--  file name

with Ada.Streams.Stream_IO;
with Appserver.HTTP.Multipart;
with Appserver.HTTP.Services;

package Photos is

   use Appserver;

   type Upload is limited new HTTP.Multipart.Reader (Header_Capacity => 2_048) with record
      Count : Natural := 0;
      File  : Ada.Streams.Stream_IO.File_Type;
   end record;

   overriding procedure Begin_Part (Self : in out Upload);
   overriding procedure Receive_Part (Self : in out Upload; Bytes : String);
   overriding procedure End_Part (Self : in out Upload);
   overriding function Respond
     (Self : in out Upload; Request : HTTP.Request) return HTTP.Response;
   overriding procedure Close (Self : not null access Upload);

   type Upload_Service is limited new HTTP.Services.Content_Service with null record;

   overriding function Policy_For
     (Self : in out Upload_Service; Request : HTTP.Request) return HTTP.Services.Content_Policy;
   overriding function Respond
     (Self : in out Upload_Service; Request : HTTP.Request) return HTTP.Response;

   Service : aliased Upload_Service;

end Photos;
