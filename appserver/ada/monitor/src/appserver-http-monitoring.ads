--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  A filter that has a monitor count the requests of a server, and a service that shows its metrics
--  on a port of its own:
--
--     Watched  : aliased Monitors.Monitor;
--     Our_Shop : aliased Shop;
--     Counted  : aliased HTTP.Monitoring.Monitor_Filter (Our_Shop'Access, Watched'Access);
--     Metrics  : aliased HTTP.Monitoring.Monitor_Page (Watched'Access);
--     …
--     Server.Start (Counted'Access, Port => 8080);
--     Own_Server.Start (Metrics'Access, Port => 9090, Options => (Workers => 1, others => <>));
--
--  Put the filter in front of all other filters. The metrics at / and /monitor are a page for
--  browsers, the text format for Prometheus, and JSON for other clients, such as "benchlab logs";
--  /monitor/page, /monitor/metrics and /monitor/json are one format each.
--
--  They show SQL, paths with keys, and errors. So nobody sees them on the port of the application,
--  unless its filter has a token: a reverse proxy on this machine may be what all clients come by.

pragma Ada_2022;

with Appserver.HTTP.Filters;
with Appserver.HTTP.Services;
with Appserver.Monitors;

package Appserver.HTTP.Monitoring is

   pragma Assertion_Policy (Pre => Check, Pre'Class => Check);

   type Monitor_Filter
     (Next    : not null Services.Service_Reference;
      Monitor : not null Monitors.Monitor_Reference) is
     limited new Filters.Filter (Next) with null record;

   Default_Path : aliased constant String := "/monitor";

   function Path (Self : Monitor_Filter) return not null Constant_Text is (Default_Path'Access);
   --  The path of the metrics

   function Application (Self : Monitor_Filter) return String is ("");
   --  A name for people, in the page and in JSON

   Min_Token_Length : constant := 16;

   function Token (Self : Monitor_Filter) return String is ("");
   --  A secret of at least Min_Token_Length characters: who sends it may see the metrics, all
   --  others get 401. Unless overridden there is none, and the path of the metrics is the next
   --  service's, as any other.

   function May_See (Self : Monitor_Filter; Request : HTTP.Request) return Boolean;
   --  Whether a request gets the metrics. Unless overridden: if there is a token and Has_Token is
   --  True.

   overriding function Respond
     (Self : in out Monitor_Filter; Request : HTTP.Request) return Response;
   --  A handler that raises an exception counts as 500. What a source gives after the handler
   --  takes no time here.

   overriding function Policy_For
     (Self : in out Monitor_Filter; Request : HTTP.Request) return Services.Content_Policy;
   --  A request whose content a receiver takes has the time of the receiver, without that of the
   --  client. It takes memory from the heap.

   ------------------------
   -- A port for metrics --
   ------------------------

   type Monitor_Page (Monitor : not null Monitors.Monitor_Reference) is
     limited new Services.Service with null record;
   --  The metrics, for a server of its own, which listens on this machine's loopback address

   function Application (Self : Monitor_Page) return String is ("");

   function May_See (Self : Monitor_Page; Request : HTTP.Request) return Boolean;
   --  True if the request is not answered with 403. Unless overridden: Asks_For_Itself.

   overriding function Respond
     (Self : in out Monitor_Page; Request : HTTP.Request) return Response;

   ----------------------
   -- Who may see them --
   ----------------------

   function Has_Token (Request : HTTP.Request; Token : String) return Boolean
     with Pre => Token'Length >= Min_Token_Length;
   --  Whether the field Authorization is "Bearer" with the token, or "Basic" with the user
   --  "monitor" and the token as its password; and no page of another site asks (Sec-Fetch-Site)

   function Asks_For_Itself (Request : HTTP.Request) return Boolean;
   --  True if a client on this machine asks, by a name of this machine (Host: localhost, 127.0.0.1,
   --  [::1], with any port), not for others as a proxy (Forwarded, X-Forwarded-For, Via, X-Real-IP
   --  and the like), and no page of another site has it ask. A proxy need not say that it is one.

end Appserver.HTTP.Monitoring;
