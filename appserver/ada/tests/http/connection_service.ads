--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  A service for tests of listeners and TLS

with Appserver.HTTP;
with Web_Services;

package Connection_Service is

   use Appserver;

   type Service is limited new Web_Services.Web_Service with null record;

   overriding function Respond
     (Self : in out Service; Request : HTTP.Request) return HTTP.Response;
   --  Responds to a request by its path. /connection: "plain" or "secure", the address of the
   --  connection, and the client's address and scheme according to X-Forwarded fields, which are
   --  trusted from 127.0.0.1 and from Unix sockets. /tls: the version of TLS, and
   --  the subject of the client's certificate. /files/: the files of Open_Folder. /large: constant
   --  text of 1 MiB. Other paths: the response of Web_Service.

   procedure Open_Folder (Path : String);
   --  Opens the directory that is served at /files/

   Shared : aliased Service;

end Connection_Service;
