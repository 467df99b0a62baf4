--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Writes the metrics as a page for a browser: which pages take the most time, and when. The page
--  is self-contained, so it can be stored and sent.

pragma Ada_2022;

with Appserver.Text_Sinks;

package Appserver.Monitors.HTML is

   Media_Type : aliased constant String := "text/html; charset=utf-8";

   Policy : constant String :=
     "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; base-uri 'none';"
     & " form-action 'none'; frame-ancestors 'none'";
   --  The value of the field Content-Security-Policy

   procedure Write
     (Self        : in out Monitor;
      To          : in out Text_Sinks.Text_Sink'Class;
      Application : String := "");
   --  Writes the metrics. No task waits for it.
   --  @param Self the monitor
   --  @param To receives the text
   --  @param Application a display name

end Appserver.Monitors.HTML;
