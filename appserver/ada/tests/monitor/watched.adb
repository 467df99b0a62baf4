--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

package body Watched is

   use Appserver.HTTP;

   procedure Open (DB : in out Databases.Connection) is
   begin
      DB.Open (":memory:");
      DB.Execute ("CREATE TABLE article (id integer PRIMARY KEY, name text)");
      DB.Execute ("INSERT INTO article VALUES (1, 'gear wheel'), (2, 'lever')");
   end Open;

   function Article (Request : HTTP.Request; Id : String) return Response is
      Held : Shops.Lease (Shop'Access);
   begin
      Held.Get (Timeout => 1.0);
      declare
         Query : constant Shops.Prepared_Statement :=
           Held.Prepared ("SELECT name FROM article WHERE id = ?");
      begin
         Query.Bind (1, Id);
         if not Query.Step then
            return Status_Only (Not_Found);
         end if;
         Request.Builder.Append (Query.As_Text (1));
         return Text_Response (Plain_Text'Access);
      end;
   end Article;

   Articles : constant String := "/articles/";

   function Respond (Request : HTTP.Request) return Response is
      Path : constant String := Request.Path;
   begin
      if Request.Path_Starts_With (Articles) then
         return Article (Request, Path (Path'First + Articles'Length .. Path'Last));
      elsif Path = "/broken" then
         raise Program_Error with "as asked";
      end if;
      return Status_Only (Not_Found);
   end Respond;

end Watched;
