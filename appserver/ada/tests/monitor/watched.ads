--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  A shop whose requests and queries are recorded

with Appserver.HTTP.Filters;
with Appserver.HTTP.Monitoring;
with Appserver.Monitors;
with Appserver.SQL.Monitored;
with Appserver.SQL.Pools;
with Appserver.SQL.SQLite;

package Watched is

   use Appserver;
   use Appserver.SQL;

   Monitor : aliased Monitors.Monitor;

   package Databases is new SQL.Monitored
     (Monitor'Access, SQLite.Connection, SQLite.Statement, SQLite.Prepare,
      SQLite.Prepare_Client_Side);

   procedure Open (DB : in out Databases.Connection);

   package Shops is new SQL.Pools
     (Databases.Connection, Databases.Statement, Open, Databases.Prepare_Counted);

   Shop : aliased Shops.Pool (Capacity => 4);

   function Respond (Request : HTTP.Request) return HTTP.Response;

   type Shop_Page is limited new HTTP.Monitoring.Monitor_Page with null record;

   overriding function Application (Self : Shop_Page) return String is ("shop");

   Handler : aliased HTTP.Filters.Function_Service (Respond'Access);
   Counted : aliased HTTP.Monitoring.Monitor_Filter (Handler'Access, Monitor'Access);
   Metrics : aliased Shop_Page (Monitor'Access);

end Watched;
