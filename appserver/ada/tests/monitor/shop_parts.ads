--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  A small shop whose requests and queries are recorded.

with Appserver.HTTP.Monitoring;
with Appserver.HTTP.Services;
with Appserver.Monitors;
with Appserver.SQL.Monitored;
with Appserver.SQL.SQLite;

package Shop_Parts is

   use Appserver;

   Monitor : aliased Monitors.Monitor
     (Max_Pages => 6, Max_Queries => 8, Hours => 3, Stripes => 2);

   package Databases is new SQL.Monitored
     (Monitor'Access, SQL.SQLite.Connection, SQL.SQLite.Statement, SQL.SQLite.Prepare,
      SQL.SQLite.Prepare_Client_Side);

   function Respond (Request : HTTP.Request) return HTTP.Response;
   --  Responds to requests. The path /queries?count=N runs N queries, /broken raises an exception,
   --  and paths below /named/ set the name of the request's page.

   type Count_Bytes is limited new HTTP.Services.Content_Receiver with record
      Count : Natural := 0;
   end record;

   overriding procedure Receive
     (Self : in out Count_Bytes; Bytes : String; Wants_More : in out Boolean);
   overriding function Respond
     (Self : in out Count_Bytes; Request : HTTP.Request) return HTTP.Response;

   type Shop_Service is limited new HTTP.Services.Content_Service with null record;

   overriding function Policy_For
     (Self : in out Shop_Service; Request : HTTP.Request) return HTTP.Services.Content_Policy;
   overriding function Respond
     (Self : in out Shop_Service; Request : HTTP.Request) return HTTP.Response;

   Service    : aliased Shop_Service;
   Counted    : aliased HTTP.Monitoring.Monitor_Filter (Service'Access, Monitor'Access);
   Statistics : aliased HTTP.Monitoring.Monitor_Page (Monitor'Access);

   type Guarded_Filter is limited new HTTP.Monitoring.Monitor_Filter with null record;

   Secret : constant String := "0123456789abcdef+/";

   overriding function Token (Self : Guarded_Filter) return String is (Secret);

   Guarded : aliased Guarded_Filter (Service'Access, Monitor'Access);

   type Short_Filter is limited new HTTP.Monitoring.Monitor_Filter with null record;

   overriding function Token (Self : Short_Filter) return String is ("too short");

   Short : aliased Short_Filter (Service'Access, Monitor'Access);

end Shop_Parts;
