--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  A filter that records the requests of a server in a monitor, and a service that shows the
--  metrics on a separate port:
--
--     Watched  : aliased Monitors.Monitor;
--     Our_Shop : aliased Shop;
--     Counted  : aliased HTTP.Monitoring.Monitor_Filter (Our_Shop'Access, Watched'Access);
--     Metrics  : aliased HTTP.Monitoring.Monitor_Page (Watched'Access);
--     …
--     Server.Start (Counted'Access, Port => 8080);
--     Own_Server.Start (Metrics'Access, Port => 9090, Options => (Workers => 1, others => <>));
--
--  Put the filter in front of all other filters. The paths / and /monitor return an HTML page to
--  browsers, the text format to Prometheus, and JSON to other clients, such as "benchlab logs". The
--  paths /monitor/page, /monitor/metrics and /monitor/json each return a fixed format.
--
--  The metrics contain SQL, paths with keys, and errors. So they are not available on the
--  application's port, unless the filter has a token. To check the address of the client would not
--  be enough, since all requests may come from a reverse proxy on the same machine.

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
   --  A filter that records the requests to Next in Monitor

   Default_Path : aliased constant String := "/monitor";

   function Path (Self : Monitor_Filter) return not null Constant_Text is (Default_Path'Access);
   --  @param Self the filter
   --  @return the path of the metrics

   function Application (Self : Monitor_Filter) return String is ("");
   --  @param Self the filter
   --  @return the name of the application to show on the page and in JSON

   Min_Token_Length : constant := 16;

   function Token (Self : Monitor_Filter) return String is ("");
   --  Returns a secret that clients must send to see the metrics; other clients get 401. By
   --  default, there is no secret, and the next service handles the path of the metrics like any
   --  other path. Override this function to enable the metrics.
   --  @param Self the filter
   --  @return a secret of at least Min_Token_Length characters; empty for no secret

   function May_See (Self : Monitor_Filter; Request : HTTP.Request) return Boolean;
   --  Decides whether a request may see the metrics. By default, Token must not be empty, and
   --  Has_Token must be True for the request.
   --  @param Self the filter
   --  @param Request the request
   --  @return True if the request may see the metrics

   overriding function Respond
     (Self : in out Monitor_Filter; Request : HTTP.Request) return Response;
   --  Returns the metrics, or calls Next and records the request. An exception in Next is recorded
   --  as status 500. The recorded time does not include the time that a content source takes after
   --  the handler has returned.
   --  @param Self the filter
   --  @param Request the request
   --  @return the response

   overriding function Policy_For
     (Self : in out Monitor_Filter; Request : HTTP.Request) return Services.Content_Policy;
   --  Returns the policy of Next. If the content of a request is passed to a receiver, the recorded
   --  time includes only the time in the receiver, and not the time that the server waits for the
   --  client. Such a request uses heap memory.
   --  @param Self the filter
   --  @param Request the header of the request
   --  @return the policy

   -------------------------------
   -- Separate port for metrics --
   -------------------------------

   type Monitor_Page (Monitor : not null Monitors.Monitor_Reference) is
     limited new Services.Service with null record;
   --  A service that shows the metrics on a separate server, which should listen on the loopback
   --  address

   function Application (Self : Monitor_Page) return String is ("");
   --  @param Self the service
   --  @return the name of the application to show on the page and in JSON

   function May_See (Self : Monitor_Page; Request : HTTP.Request) return Boolean;
   --  Decides whether a request may see the metrics; other requests get 403. By default, returns
   --  the result of Asks_For_Itself.
   --  @param Self the service
   --  @param Request the request
   --  @return True if the request may see the metrics

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
   --  Checks the header field Authorization, and that the request was not sent by a page of another
   --  site (Sec-Fetch-Site).
   --  @param Request the request
   --  @param Token the token
   --  @return True if the field is "Bearer" with the token, or "Basic" with the user "monitor" and
   --  the token as the password

   function Asks_For_Itself (Request : HTTP.Request) return Boolean;
   --  Checks that the request appears to come directly from a client on this machine. A proxy that
   --  does not identify itself cannot be detected.
   --  @param Request the request
   --  @return True if the Host field is localhost, 127.0.0.1 or [::1], with any port, the request
   --  has no header fields of proxies (Forwarded, X-Forwarded-For, Via, X-Real-IP and similar
   --  fields), and the request was not sent by a page of another site

end Appserver.HTTP.Monitoring;
