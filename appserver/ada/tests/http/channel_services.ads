--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Event streams and WebSocket connections, for test_events.py and test_websockets.py in tests/http

with Appserver.HTTP.Access_Logs;
with Appserver.HTTP.Channels;
with Appserver.HTTP.Services;

package Channel_Services is

   use Appserver;

   Options : HTTP.Channels.Settings;
   --  The limits of all channels, which must be set before the server starts

   Log : aliased HTTP.Access_Logs.Access_Log (Lines => 64);

   type Channel_Service is limited new HTTP.Services.Service with null record;

   overriding function Respond
     (Self : in out Channel_Service; Request : HTTP.Request) return HTTP.Response;
   --  Responds to a request by its path. /events: a stream in a group, which begins with an event
   --  "hello" with Last-Event-ID. /events/three: a stream of three events, which ends.
   --  /events/lost: opens a stream, but responds with 404. /events/flood: sends events until the
   --  result is not Queued, and reports the number and the result at /state. POST /broadcast: sends
   --  the content to the streams, as an event of the type in the parameter "name". POST /tell:
   --  sends the content to the sockets in the room. /socket: an echo, also for pages of
   --  https://friend.example, with the protocols "chat" and "superchat". /socket/room: sends each
   --  message to all sockets in the room. /socket/slow: an echo after 20 ms. /socket/raise: raises
   --  an exception at a "!". /socket/close: a message "CODE REASON" closes the connection.
   --  /socket/hello: sends "hello" when opened. /socket/flood: sends until the result is not
   --  Queued. /socket/own: a handler object for each connection. /state: "OPENED CLOSED RELEASED
   --  CODE REASON", with the latest code. /counts: the members of the groups. /page: a page for
   --  browsers. Other paths: "Hello World!".

   function Filtered return HTTP.Services.Service_Reference;
   --  Returns the service behind two filters: one adds the field X-Filtered, and the other
   --  compresses with gzip

end Channel_Services;
