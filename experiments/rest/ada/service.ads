--  SPDX-License-Identifier: Apache-2.0
--
--  The responses to the experiment's requests. There are two bodies: one
--  finds its way by itself, one has routes.

with Appserver.HTTP;

package Service is

   use Appserver;

   procedure Open (Folder : String);
   --  The one with the files

   procedure Close;

   function Respond (Request : HTTP.Request) return HTTP.Response;

end Service;
