--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Writes the metrics in Prometheus's text format, version 0.0.4.
--
--     appserver_monitor_page_seconds             {page}         a histogram of response times
--     appserver_monitor_page_errors_total        {page}         responses with status 500 and above
--     appserver_monitor_page_client_errors_total {page}         responses with status 400 to 499
--     appserver_monitor_page_cpu_seconds_total   {page}         estimated CPU time
--     appserver_monitor_queries_total            {page, query}  executions
--     appserver_monitor_query_errors_total       {page, query}  failed executions
--     appserver_monitor_query_seconds_total      {page, query}  the time of executions

pragma Ada_2022;

with Appserver.Text_Sinks;

package Appserver.Monitors.Prometheus is

   Media_Type : aliased constant String := "text/plain; version=0.0.4; charset=utf-8";

   procedure Write (Self : in out Monitor; To : in out Text_Sinks.Text_Sink'Class);
   --  Writes the metrics. The bucket bounds of histograms are the powers of two, in nanoseconds,
   --  from 16 µs to 69 s.
   --  @param Self the monitor
   --  @param To receives the text

end Appserver.Monitors.Prometheus;
