--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Writes the metrics in JSON, which "benchlab logs" reads: docs/guides/logs.md of benchlab
--  specifies the format.

pragma Ada_2022;

with Appserver.Text_Sinks;

package Appserver.Monitors.JSON is

   procedure Write
     (Self        : in out Monitor;
      To          : not null access Text_Sinks.Text_Sink'Class;
      Application : String := "");
   --  Writes the metrics. No task waits for it.
   --  @param Self the monitor
   --  @param To receives the text
   --  @param Application a display name

end Appserver.Monitors.JSON;
