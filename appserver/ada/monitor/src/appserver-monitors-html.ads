--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Writes the metrics as an HTML page, which shows the pages that take the most time, and the load
--  by hour. The HTML page is self-contained, so it can be saved and sent.

pragma Ada_2022;

with Appserver.Text_Sinks;

package Appserver.Monitors.HTML is

   Media_Type : aliased constant String := "text/html; charset=utf-8";

   Policy : constant String :=
     "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; base-uri 'none';"
     & " form-action 'none'; frame-ancestors 'none'";
   --  The value of the header field Content-Security-Policy

   procedure Write
     (Self        : in out Monitor;
      To          : in out Text_Sinks.Text_Sink'Class;
      Application : String := "");
   --  Writes the metrics, without delaying the tasks that record.
   --  @param Self the monitor
   --  @param To receives the text
   --  @param Application the name of the application to show

end Appserver.Monitors.HTML;
