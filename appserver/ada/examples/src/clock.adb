--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

with Appserver.HTTP.Channels.Events;

package body Clock is

   use Appserver.HTTP;
   use Appserver.HTTP.Channels;

   Between_Events : constant Duration := 0.1;

   Viewers : Group;

   HTML : aliased constant String := "text/html; charset=utf-8";

   Page : aliased constant String :=
     "<!doctype html><meta charset=""utf-8""><title>Counter</title><output></output>"
     & "<script>new EventSource('events').onmessage = event =>"
     & " document.querySelector('output').textContent = event.data;</script>";

   function Stream (Request : Appserver.HTTP.Request) return Response is
      Viewer : Channel;
   begin
      return Result : constant Response := Events.Open (Request, Viewer) do
         Viewers.Add (Viewer);
      end return;
   end Stream;

   function Respond (Request : Appserver.HTTP.Request) return Response is
     (if Request.Path_Is ("/") then Static_Response (HTML'Access, Page'Access)
      elsif Request.Path_Is ("/events") then Stream (Request)
      else Status_Only (Not_Found));

   task body Counter is
      Number : Natural := 0;
      Ends   : Boolean := False;
   begin
      select
         accept Start;
      or
         terminate;
      end select;
      while not Ends loop
         Number := Number + 1;
         Viewers.Broadcast (Events.Event (Data => Number'Image, ID => Number'Image));
         select
            accept Stop;
            Ends := True;
         or
            delay Between_Events;
         end select;
      end loop;
   end Counter;

end Clock;
