--  SPDX-License-Identifier: Apache-2.0
--
--  What the experiment's requests are answered with. There are two bodies: one finds its way by
--  itself, one has routes.

with Appserver.HTTP;

package Service is

   use Appserver;

   procedure Open (Folder : String);
   --  The one with the files

   procedure Close;

   function Answer (Request : HTTP.Request) return HTTP.Response;

end Service;
