--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

with Appserver.HTTP.REST;
with Appserver.JSON.Objects;
with Appserver.JSON.Readers;
with Appserver.SQL.Pools;
with Appserver.SQL.SQLite;
with Serving;

package body Articles is

   use Appserver;
   use Appserver.HTTP.REST;
   use Appserver.SQL;

   ------------------
   -- The database --
   ------------------

   procedure Open (DB : in out SQLite.Connection) is
   begin
      DB.Open (Serving.Folder & "/articles.db");
      DB.Set_Busy_Timeout (5.0);
   end Open;

   package Stores is new SQL.Pools (SQLite.Connection, SQLite.Statement, Open, SQLite.Prepare);

   Store : aliased Stores.Pool (Capacity => 4);

   procedure Create is
      Held : Stores.Lease (Store'Access);
   begin
      Held.Get;
      Held.DB.Execute
        ("CREATE TABLE IF NOT EXISTS article"
         & " (id integer PRIMARY KEY, name text UNIQUE, stock integer)");
   end Create;

   -------------
   -- Reading --
   -------------

   type Article_Id is range 1 .. 2 ** 31 - 1;

   procedure Show (Id : Article_Id; Response : in out Document_Response) is
      Held : Stores.Lease (Store'Access);
   begin
      Held.Get (Timeout => 1.0);
      declare
         Query : constant Stores.Prepared_Statement :=
           Held.Prepared ("SELECT name, stock FROM article WHERE id = ?");
      begin
         Query.Bind (1, Integer_64 (Id));
         if Query.Step then
            Response.Start_Document;
            Response.Write_Entity ("name", Query.As_Text (1));
            Response.Write_Entity ("stock", Query.As_Integer_64 (2));
            Response.End_Document;
         else
            Response.Refuse (HTTP.Not_Found, "no such article");
         end if;
      end;
   end Show;

   -------------
   -- Writing --
   -------------

   type Article is record
      Name   : String (1 .. 100);
      Length : Natural := 0;
      Stock  : Integer_64 := 0;
   end record;

   type Member is (Name, Stock);

   procedure Read_Member
     (Into   : in out Article;
      Which  : Member;
      JSON   : in out Appserver.JSON.Readers.Reader;
      Source : String) is
   begin
      case Which is
         when Name  => JSON.Next_Text (Source, Into.Name, Into.Length);
         when Stock => Into.Stock := JSON.Next_Integer (Source, 0, 1_000_000);
      end case;
   end Read_Member;

   package Members is new Appserver.JSON.Objects (Member, Article, Read_Member);

   procedure Insert (Item : Article; Response : in out Document_Response) is
      Held : Stores.Lease (Store'Access);
   begin
      Held.Get (Timeout => 1.0);
      declare
         Insertion : constant Stores.Prepared_Statement :=
           Held.Prepared ("INSERT INTO article (name, stock) VALUES (?, ?) RETURNING id");
      begin
         Insertion.Bind (1, Item.Name (1 .. Item.Length));
         Insertion.Bind (2, Item.Stock);
         if Insertion.Step then
            Response.Set_Status (HTTP.Created);
            Response.Start_Document;
            Response.Write_Entity ("id", Insertion.As_Integer_64 (1));
            Response.End_Document;
         end if;
      end;
   exception
      when Error : SQL_Error =>
         if Is_Unique_Violation (Error_Of (Error)) then
            Response.Refuse (HTTP.Conflict, "an article with that name already exists");
         else
            raise;
         end if;
   end Insert;

   procedure Add (Response : in out Document_Response) is

      procedure Read (Content : String) is
         JSON : Appserver.JSON.Readers.Reader;
         Item : Article;
      begin
         Members.Read (Item, JSON, Content);
         JSON.Finish_Reading (Content);
         if JSON.Has_Failed then
            Response.Refuse
              (HTTP.Bad_Request, "invalid article: error at byte" & JSON.Position'Image);
         else
            Insert (Item, Response);
         end if;
      end Read;

   begin
      Response.Request.Read_Content (Read'Access);
   end Add;

   ------------
   -- Routes --
   ------------

   package Ids is new Integer_Parameters (Article_Id, "id");

   procedure Showing is new With_Parameter (Ids.Parameter, Show);

   API : constant Service := Service_Of
     ([Route (HTTP.Get,  "/articles/{id}", Showing'Access),
       Route (HTTP.Post, "/articles",      Add'Access)]);

   function Respond (Request : HTTP.Request) return HTTP.Response is (API.Respond (Request));

end Articles;
