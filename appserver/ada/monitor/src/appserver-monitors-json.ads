--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  The metrics in JSON, as "benchlab logs" reads them: docs/guides/logs.md of benchlab has the
--  format.

pragma Ada_2022;

with Appserver.Text_Sinks;

package Appserver.Monitors.JSON is

   procedure Write
     (Self        : in out Monitor;
      To          : not null access Text_Sinks.Text_Sink'Class;
      Application : String := "");
   --  Nobody waits for it. Application is a name for people.

end Appserver.Monitors.JSON;
