--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Writes the metrics in JSON, for "benchlab logs". The file docs/log-formats.md of benchlab
--  specifies the format.

pragma Ada_2022;

with Appserver.Text_Sinks;

package Appserver.Monitors.JSON is

   procedure Write
     (Self        : in out Monitor;
      To          : not null access Text_Sinks.Text_Sink'Class;
      Application : String := "");
   --  Writes the metrics, without delaying the tasks that record.
   --  @param Self the monitor
   --  @param To receives the text
   --  @param Application the name of the application to show

end Appserver.Monitors.JSON;
