--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

with Appserver.HTTP.Filters;
with Appserver.HTTP.Monitoring;
with Appserver.Monitors;

package Shop_Pages is

   use Appserver;

   Monitor : aliased Monitors.Monitor;

   function Respond (Request : HTTP.Request) return HTTP.Response;

   Pages   : aliased HTTP.Filters.Function_Service (Respond'Access);
   Counted : aliased HTTP.Monitoring.Monitor_Filter (Pages'Access, Monitor'Access);
   Metrics : aliased HTTP.Monitoring.Monitor_Page (Monitor'Access);

end Shop_Pages;
