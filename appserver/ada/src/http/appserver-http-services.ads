--  SPDX-License-Identifier: Apache-2.0
--
--  Handlers that have a state of their own: a pool of connections, a cache, settings. A server is
--  started with one in place of a function.
--
--     type Shop is limited new HTTP.Services.Service with record
--        Orders : Order_Pool;
--     end record;
--
--     overriding function Answer
--       (Self : in out Shop; Request : HTTP.Request) return HTTP.Response;
--
--     Our_Shop : aliased Shop;
--     …
--     Server.Start (Our_Shop'Access, Port => 8080);
--
--  An object that is declared is one of a library package; others come from an allocator. So none
--  ends before its server.

package Appserver.HTTP.Services is

   type Service is limited interface;

   function Answer
     (Self : in out Service; Request : HTTP.Request) return Response is abstract;
   --  As Handler has it. The server profile calls it from several tasks at once: what it changes is
   --  to be protected.

   type Service_Reference is access all Service'Class;

   function Not_Here (Request : HTTP.Request) return Response;
   --  404, for a server that has a service and no function

private

   function Not_Here (Request : HTTP.Request) return Response is (Empty (Not_Found));

end Appserver.HTTP.Services;
