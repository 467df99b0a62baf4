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
--  It is to be in front of all other filters. Then /monitor is a page for a browser, the text
--  format for Prometheus, and JSON for all others, such as "benchlab watch"; /monitor/page,
--  /monitor/metrics and /monitor/json are one of them each. It does not count these requests.

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
   --  Where the figures are

   function Application (Self : Monitor_Filter) return String is ("");
   --  A name for people, in the page and in JSON

   function May_See (Self : Monitor_Filter; Request : HTTP.Request) return Boolean;
   --  Who is not answered with 403. Unless it is overridden: clients on this machine that ask for
   --  themselves, not those of a proxy, which says so by a field (Forwarded or X-Forwarded-For).

   overriding function Answer
     (Self : in out Monitor_Filter; Request : HTTP.Request) return Response;
   --  A handler that raises an exception counts as 500. What a source gives after the handler
   --  takes no time here.

   overriding function Plan
     (Self : in out Monitor_Filter; Request : HTTP.Request) return Services.Content_Plan;
   --  A request whose content a receiver takes has the time of the receiver, without that of the
   --  client. It takes memory from the heap.

end Appserver.HTTP.Monitoring;
