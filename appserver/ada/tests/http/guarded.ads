--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Authenticates the clients of uploads, and compresses responses

with Appserver.HTTP.Compression;
with Appserver.HTTP.Filters;
with Uploads;

package Guarded is

   use Appserver;

   type Guard is limited new HTTP.Filters.Filter with null record;

   overriding procedure Before
     (Self         : in out Guard;
      Request      : HTTP.Request;
      Response     : in out HTTP.Response;
      Has_Response : in out Boolean);

   Compressed : aliased HTTP.Compression.Gzip_Filter (Uploads.Service'Access, Compressors => 8);
   Service    : aliased Guard (Compressed'Access);

end Guarded;
