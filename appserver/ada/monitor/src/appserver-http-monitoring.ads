--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  A filter that counts the requests of a server in a monitor, and a service that shows the metrics
--  on a separate port:
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
--  The metrics show SQL, paths with keys, and errors. So they are not shown on the port of the
--  application, unless its filter has a token: all requests may come from a reverse proxy on this
--  machine.

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
   --  Counts the requests to Next in Monitor

   Default_Path : aliased constant String := "/monitor";

   function Path (Self : Monitor_Filter) return not null Constant_Text is (Default_Path'Access);
   --  @param Self the filter
   --  @return the path of the metrics

   function Application (Self : Monitor_Filter) return String is ("");
   --  @param Self the filter
   --  @return a display name, for the page and JSON

   Min_Token_Length : constant := 16;

   function Token (Self : Monitor_Filter) return String is ("");
   --  Override this function to show the metrics to clients that send a secret; others get 401. By
   --  default there is none, and the next service handles the path of the metrics like any other.
   --  @param Self the filter
   --  @return a secret of at least Min_Token_Length characters; empty for none

   function May_See (Self : Monitor_Filter; Request : HTTP.Request) return Boolean;
   --  Decides whether a request gets the metrics. By default, there must be a token, and Has_Token
   --  must be True.
   --  @param Self the filter
   --  @param Request the request
   --  @return True if it gets the metrics

   overriding function Respond
     (Self : in out Monitor_Filter; Request : HTTP.Request) return Response;
   --  Shows the metrics, or calls Next and counts the request. An exception of Next counts as 500.
   --  The time of a source after the handler has returned does not count.
   --  @param Self the filter
   --  @param Request the request
   --  @return the response

   overriding function Policy_For
     (Self : in out Monitor_Filter; Request : HTTP.Request) return Services.Content_Policy;
   --  Asks Next. The time of a request whose content a receiver takes is that of the receiver,
   --  without that of the client. Such a request takes heap memory.
   --  @param Self the filter
   --  @param Request the header of the request
   --  @return the policy

   ------------------------
   -- A port for metrics --
   ------------------------

   type Monitor_Page (Monitor : not null Monitors.Monitor_Reference) is
     limited new Services.Service with null record;
   --  Shows the metrics on a separate server, which listens on the loopback address

   function Application (Self : Monitor_Page) return String is ("");
   --  @param Self the service
   --  @return a display name, for the page and JSON

   function May_See (Self : Monitor_Page; Request : HTTP.Request) return Boolean;
   --  Decides whether a request gets the metrics; else it gets 403. By default, Asks_For_Itself
   --  must be True.
   --  @param Self the service
   --  @param Request the request
   --  @return True if it gets the metrics

   overriding function Respond
     (Self : in out Monitor_Page; Request : HTTP.Request) return Response;
   --  @param Self the service
   --  @param Request the request
   --  @return the metrics

   -------------------
   -- Authorization --
   -------------------

   function Has_Token (Request : HTTP.Request; Token : String) return Boolean
     with Pre => Token'Length >= Min_Token_Length
                 or else raise Misuse_Error with "the token is too short";
   --  Checks the field Authorization, and that no page of another site sends the request
   --  (Sec-Fetch-Site).
   --  @param Request the request
   --  @param Token the token
   --  @return True if the field is "Bearer" with the token, or "Basic" with the user "monitor" and
   --  the token as its password

   function Asks_For_Itself (Request : HTTP.Request) return Boolean;
   --  Checks that the request is from a client on this machine. A proxy need not identify itself.
   --  @param Request the request
   --  @return True if the client addresses this machine (Host: localhost, 127.0.0.1 or [::1], with
   --  any port), has no field of proxies (Forwarded, X-Forwarded-For, Via, X-Real-IP and the like),
   --  and no page of another site sends the request

end Appserver.HTTP.Monitoring;
