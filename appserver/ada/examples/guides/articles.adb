--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

with Ada.Command_Line;
with Appserver.HTTP.REST;
with Appserver.SQL.Pools;
with Appserver.SQL.PostgreSQL;

package body Articles is

   use Appserver;
   use Appserver.HTTP.REST;
   use Appserver.SQL;

   procedure Open (DB : in out PostgreSQL.Connection) is
   begin
      DB.Set_Wait_Limit (5.0);
      DB.Open (Ada.Command_Line.Argument (2));
   end Open;

   package Databases is new SQL.Pools
     (PostgreSQL.Connection, PostgreSQL.Statement, Open, PostgreSQL.Prepare);

   Database : aliased Databases.Pool (Capacity => 4);

   type Article_Id is range 1 .. 2 ** 31 - 1;

   procedure Show (Id : Article_Id; Response : in out Document_Response) is
      Held : Databases.Lease (Database'Access);
   begin
      Held.Get (Timeout => 2.0);
      declare
         Query : constant Databases.Prepared_Statement :=
           Held.Prepared ("SELECT name FROM guide_article WHERE id = ?");
      begin
         Query.Bind (1, Integer_64 (Id));
         if Query.Step then
            Response.Start_Document;
            Response.Write_Entity ("name", Query.As_Text (1));
            Response.End_Document;
         else
            Response.Refuse (HTTP.Not_Found, "no such article");
         end if;
      end;
   end Show;

   procedure Add (Name : String; Response : in out Document_Response) is
      Held : Databases.Lease (Database'Access);
   begin
      Held.Get (Timeout => 2.0);
      declare
         Insert : constant Databases.Prepared_Statement :=
           Held.Prepared
             ("INSERT INTO guide_article (name) VALUES (?) ON CONFLICT DO NOTHING RETURNING id");
      begin
         Insert.Bind (1, Name);
         if Insert.Step then
            Response.Set_Status (HTTP.Created);
            Response.Start_Document;
            Response.Write_Entity ("id", Insert.As_Integer_64 (1));
            Response.End_Document;
         else
            Response.Refuse (HTTP.Conflict, "an article with that name exists");
         end if;
      end;
   end Add;

   function Is_Name (Text : String) return Boolean is (Text'Length in 1 .. 100);

   package Ids is new Integer_Parameters (Article_Id, "id");
   package Names is new Text_Parameters ("name", In_Query, Is_Valid => Is_Name);
   procedure Showing is new With_Parameter (Ids.Parameter, Show);
   procedure Adding is new With_Parameter (Names.Parameter, Add);

   API : constant Service := Service_Of
     ([Route (HTTP.Get,  "/articles/{id}", Showing'Access),
       Route (HTTP.Post, "/articles",      Adding'Access)]);

   function Respond (Request : HTTP.Request) return HTTP.Response is (API.Respond (Request));

begin
   Database.Configure ((Max_Lifetime => 1_800.0, Leak_Threshold => 60.0, others => <>));
end Articles;
