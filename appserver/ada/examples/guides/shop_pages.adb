--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

with Appserver.HTTP.REST;
with Appserver.SQL.Monitored;
with Appserver.SQL.Pools;
with Appserver.SQL.SQLite;

package body Shop_Pages is

   use Appserver.HTTP.REST;
   use Appserver.SQL;

   --  Connections whose queries the monitor records

   package Databases is new SQL.Monitored
     (Monitor'Access, SQLite.Connection, SQLite.Statement, SQLite.Prepare,
      SQLite.Prepare_Client_Side);

   procedure Open (DB : in out Databases.Connection) is
   begin
      DB.Open (":memory:");
   end Open;

   package Pools is new SQL.Pools
     (Databases.Connection, Databases.Statement, Open, Databases.Prepare_Counted);

   Pool : aliased Pools.Pool (Capacity => 4);

   type Article_Id is range 1 .. 9_999;

   procedure Show (Id : Article_Id; Response : in out Document_Response) is
      Held : Pools.Lease (Pool'Access);
   begin
      Held.Get (Timeout => 10.0);
      declare
         Query : constant Pools.Prepared_Statement := Held.Prepared ("SELECT 2 * ?");
      begin
         Query.Bind (1, Integer_64 (Id));
         if Query.Step then
            Response.Start_Document;
            Response.Write_Entity ("double", Query.As_Integer_64 (1));
            Response.End_Document;
         end if;
      end;
   end Show;

   procedure Sum (Response : in out Document_Response) is
      Held : Pools.Lease (Pool'Access);
   begin
      Held.Get (Timeout => 10.0);
      declare
         Query : constant Pools.Prepared_Statement :=
           Held.Prepared
             ("WITH RECURSIVE n (i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 10000)"
              & " SELECT sum (i) FROM n");
      begin
         if Query.Step then
            Response.Start_Document;
            Response.Write_Entity ("sum", Query.As_Integer_64 (1));
            Response.End_Document;
         end if;
      end;
   end Sum;

   package Ids is new Integer_Parameters (Article_Id, "id");
   procedure Showing is new With_Parameter (Ids.Parameter, Show);

   API : constant Service := Service_Of
     ([Route (HTTP.Get, "/articles/{id}", Showing'Access),
       Route (HTTP.Get, "/sum",           Sum'Access)]);

   function Respond (Request : HTTP.Request) return HTTP.Response is (API.Respond (Request));

end Shop_Pages;
