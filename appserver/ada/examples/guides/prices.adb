--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

with Ada.Command_Line;
with Ada.Containers;
with Appserver.Caches;
with Appserver.Caches.Wait_Free;
with Appserver.Counters.Atomic;
with Appserver.HTTP.REST;
with Appserver.SQL.Pools;
with Appserver.SQL.SQLite;

package body Prices is

   use Appserver;
   use Appserver.HTTP.REST;
   use Appserver.SQL;

   type Article_Id is range 1 .. 10_000;
   type Cents is range 0 .. 10 ** 9;

   procedure Open (DB : in out SQLite.Connection) is
   begin
      DB.Open (Ada.Command_Line.Argument (2));
      DB.Set_Busy_Timeout (10.0);
      DB.Execute ("CREATE TABLE IF NOT EXISTS price (id integer PRIMARY KEY, cents integer)");
   end Open;

   package Databases is new SQL.Pools (SQLite.Connection, SQLite.Statement, Open, SQLite.Prepare);

   Database : aliased Databases.Pool (Capacity => 4);
   Queries  : Counters.Atomic.Counter;

   --  The query, which runs only for articles that are not in the cache

   No_Price : exception;

   function Load (Id : Article_Id) return Cents is
      Held : Databases.Lease (Database'Access);
   begin
      Queries.Increment;
      Held.Get (Timeout => 10.0);
      declare
         Query : constant Databases.Prepared_Statement :=
           Held.Prepared ("SELECT cents FROM price WHERE id = ?");
      begin
         Query.Bind (1, Integer_64 (Id));
         return (if Query.Step then Cents (Query.As_Integer_64 (1)) else raise No_Price);
      end;
   end Load;

   --  The cache

   function Hash (Id : Article_Id) return Ada.Containers.Hash_Type is
     (Ada.Containers.Hash_Type (Id));

   package Price_Caches is new Caches (Article_Id, Cents, Hash);
   package Shared_Caches is new Price_Caches.Wait_Free;

   Cache : Shared_Caches.Cache (Capacity => 1_000, Time_To_Live => 60_000);

   procedure Show (Id : Article_Id; Response : in out Document_Response) is
      Price : Cents;
   begin
      Price := Cache.Get_Or_Load (Id, Load'Access);
      Response.Start_Document;
      Response.Write_Entity ("cents", Integer_64 (Price));
      Response.End_Document;
   exception
      when No_Price =>
         Response.Refuse (HTTP.Not_Found, "no such article");
   end Show;

   --  Changes the database first, and then removes the old value

   procedure Change (Id : Article_Id; Price : Cents; Response : in out Document_Response) is
      Held : Databases.Lease (Database'Access);
   begin
      Held.Get (Timeout => 10.0);
      declare
         Upsert : constant Databases.Prepared_Statement :=
           Held.Prepared ("INSERT INTO price VALUES (?1, ?2) ON CONFLICT DO UPDATE SET cents = ?2");
      begin
         Upsert.Bind (1, Integer_64 (Id));
         Upsert.Bind (2, Integer_64 (Price));
         Upsert.Execute;
      end;
      Cache.Remove (Id);
      Response.Start_Document;
      Response.Write_Entity ("cents", Integer_64 (Price));
      Response.End_Document;
   end Change;

   procedure Show_Queries (Response : in out Document_Response) is
   begin
      Response.Start_Document;
      Response.Write_Entity ("queries", Queries.Value);
      Response.End_Document;
   end Show_Queries;

   package Ids is new Integer_Parameters (Article_Id, "id");
   package Amounts is new Integer_Parameters (Cents, "cents", In_Query);
   procedure Showing is new With_Parameter (Ids.Parameter, Show);
   procedure Changing is new With_Two_Parameters (Ids.Parameter, Amounts.Parameter, Change);

   API : constant Service := Service_Of
     ([Route (HTTP.Get, "/prices/{id}", Showing'Access),
       Route (HTTP.Put, "/prices/{id}", Changing'Access),
       Route (HTTP.Get, "/queries",     Show_Queries'Access)]);

   function Respond (Request : HTTP.Request) return HTTP.Response is (API.Respond (Request));

end Prices;
