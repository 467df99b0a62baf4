--  SPDX-License-Identifier: Apache-2.0
--
--  The responses to the experiment's requests. There are two bodies: one dispatches requests
--  itself, and one uses routes.

with Appserver.HTTP;

package Service is

   use Appserver;

   procedure Open (Folder : String);
   --  Opens the directory Folder, which contains the static files

   procedure Close;

   function Respond (Request : HTTP.Request) return HTTP.Response;

end Service;
