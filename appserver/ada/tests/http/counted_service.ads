--  SPDX-License-Identifier: Apache-2.0
--
--  What the examples of HTTP.md and REST.md answer, files, and what takes memory from the heap.

with Appserver.HTTP;

package Counted_Service is

   use Appserver;

   procedure Open (Folder : String);
   --  That /files/ is of

   function Answer (Request : HTTP.Request) return HTTP.Response;
   --  /new takes something from the heap, /raise raises an exception

end Counted_Service;
