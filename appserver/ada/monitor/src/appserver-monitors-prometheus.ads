--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  The metrics as Prometheus reads them: its text format, version 0.0.4.
--
--     appserver_monitor_page_seconds             {page}         a histogram of response times
--     appserver_monitor_page_errors_total        {page}         answers of 500 and more
--     appserver_monitor_page_client_errors_total {page}         answers of 400 to 499
--     appserver_monitor_page_cpu_seconds_total   {page}         CPU time, estimated
--     appserver_monitor_queries_total            {page, query}  executions
--     appserver_monitor_query_errors_total       {page, query}  those that failed
--     appserver_monitor_query_seconds_total      {page, query}  their time

pragma Ada_2022;

with Appserver.Text_Sinks;

package Appserver.Monitors.Prometheus is

   Media_Type : aliased constant String := "text/plain; version=0.0.4; charset=utf-8";

   procedure Write (Self : in out Monitor; To : in out Text_Sinks.Text_Sink'Class);
   --  A histogram has a bound at each power of two, from 16 µs to 69 s

end Appserver.Monitors.Prometheus;
