--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  A filter that has a monitor count the requests of a server, and shows its figures:
--
--     Watched  : aliased Monitors.Monitor;
--     Our_Shop : aliased Shop;
--     Counted  : aliased HTTP.Monitoring.Monitor_Filter (Our_Shop'Access, Watched'Access);
--     …
--     Server.Start (Counted'Access, Port => 8080);
--
--  Put it in front of all other filters. /monitor is then a page for browsers, the text format for
--  Prometheus, and JSON for other clients, such as "benchlab watch"; /monitor/page,
--  /monitor/metrics and /monitor/json are one format each. These requests are not counted.

pragma Ada_2022;

with Appserver.HTTP.Filters;
with Appserver.HTTP.Services;
with Appserver.Monitors;

package Appserver.HTTP.Monitoring is

   type Monitor_Filter
     (Next    : not null Services.Service_Reference;
      Monitor : not null Monitors.Monitor_Reference) is
     limited new Filters.Filter (Next) with null record;

   Usual_Path : aliased constant String := "/monitor";

   function Path (Self : Monitor_Filter) return not null Constant_Text is (Usual_Path'Access);
   --  The path of the figures

   function Application (Self : Monitor_Filter) return String is ("");
   --  A name for people, in the page and in JSON

   function May_See (Self : Monitor_Filter; Request : HTTP.Request) return Boolean;
   --  Whether the request is not answered with 403. Unless overridden: if it comes from this
   --  machine without a proxy's field Forwarded or X-Forwarded-For.

   overriding function Answer
     (Self : in out Monitor_Filter; Request : HTTP.Request) return Response;
   --  A handler that raises an exception counts as 500. What a source gives after the handler
   --  takes no time here.

   overriding function Plan
     (Self : in out Monitor_Filter; Request : HTTP.Request) return Services.Content_Plan;
   --  A request whose content a receiver takes has the time of the receiver, without that of the
   --  client. It takes memory from the heap.

end Appserver.HTTP.Monitoring;
