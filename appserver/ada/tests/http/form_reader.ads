--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  A reader of multipart/form-data for tests, which stores all parts

with Ada.Strings.Unbounded;
with Appserver.HTTP.Multipart;

package Form_Reader is

   use Appserver;

   type Recorder is limited new HTTP.Multipart.Reader with record
      Text : Ada.Strings.Unbounded.Unbounded_String;
   end record;
   --  A reader whose Text contains "name|file|type:content;" for each part

   overriding procedure Begin_Part (Self : in out Recorder);
   overriding procedure Receive_Part (Self : in out Recorder; Bytes : String);
   overriding procedure End_Part (Self : in out Recorder);
   overriding function Respond
     (Self : in out Recorder; Request : HTTP.Request) return HTTP.Response;

end Form_Reader;
