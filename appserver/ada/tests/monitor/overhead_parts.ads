--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Services with the same short response to every request, with and without a monitor.

with Appserver.HTTP.Filters;
with Appserver.HTTP.Monitoring;
with Appserver.Monitors;

package Overhead_Parts is

   use Appserver;

   function Respond (Request : HTTP.Request) return HTTP.Response;

   Monitor : aliased Monitors.Monitor;
   Handler : aliased HTTP.Filters.Function_Service (Respond'Access);
   Counted : aliased HTTP.Monitoring.Monitor_Filter (Handler'Access, Monitor'Access);

end Overhead_Parts;
