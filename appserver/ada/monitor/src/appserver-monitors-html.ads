--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  The metrics as a page for a browser: which few pages take the time, and when. It needs nothing
--  from elsewhere, so it can be kept and sent.

pragma Ada_2022;

with Appserver.Text_Sinks;

package Appserver.Monitors.HTML is

   Media_Type : aliased constant String := "text/html; charset=utf-8";

   Policy : constant String :=
     "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; base-uri 'none';"
     & " form-action 'none'; frame-ancestors 'none'";
   --  For the field Content-Security-Policy

   procedure Write
     (Self        : in out Monitor;
      To          : in out Text_Sinks.Text_Sink'Class;
      Application : String := "");

end Appserver.Monitors.HTML;
