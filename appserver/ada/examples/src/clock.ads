--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  A counter that all pages show at the same time, with server-sent events

with Appserver.HTTP;

package Clock is

   function Respond (Request : Appserver.HTTP.Request) return Appserver.HTTP.Response;
   --  Responds to "/" with a page, and to "/events" with the stream

   task Counter is
      entry Start;
      entry Stop;
   end Counter;
   --  Sends the next number ten times per second

end Clock;
