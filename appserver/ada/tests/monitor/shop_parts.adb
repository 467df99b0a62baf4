--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

package body Shop_Parts is

   use Appserver.HTTP;

   DB : Databases.Connection;

   Receiver : aliased Count_Bytes;

   procedure Make_Queries (Count : Natural) is
      Query : Databases.Statement;
   begin
      if not DB.Is_Open then
         DB.Open (":memory:");
      end if;
      Databases.Prepare_Counted (Query, DB, "SELECT 7, 'x' UNION SELECT 8, 'y'");
      for K in 1 .. Count loop
         while Query.Step loop
            null;
         end loop;
      end loop;
   end Make_Queries;

   function Answer (Request : HTTP.Request) return Response is
   begin
      if Request.Path_Is ("/queries") then
         Make_Queries (Natural'Value (Request.Parameter ("count")));
      elsif Request.Path_Is ("/broken") then
         raise Constraint_Error with "as asked";
      elsif Request.Path_Starts_With ("/named/") then
         Monitors.Set_Page ("GET /named/{name}");
      elsif Request.Path_Starts_With ("/missing") then
         return Empty (Not_Found);
      end if;
      return Empty (No_Content);
   end Answer;

   overriding procedure Take
     (Self : in out Count_Bytes; Bytes : String; Wants_More : in out Boolean)
   is
      pragma Unreferenced (Wants_More);
   begin
      Self.Count := Self.Count + Bytes'Length;
   end Take;

   overriding function Answer (Self : in out Count_Bytes; Request : HTTP.Request) return Response is
   begin
      Make_Queries (1);
      Request.Draft.Append (Self.Count'Image);
      return Written (Plain_Text'Access);
   end Answer;

   overriding function Plan
     (Self : in out Shop_Service; Request : HTTP.Request) return Services.Content_Plan is
   begin
      if Request.Path_Is ("/upload") then
         Receiver.Count := 0;
         return Services.Received (Receiver'Access, Limit => 1_000);
      elsif Request.Path_Is ("/refused") then
         return Services.Refused (Empty (Content_Too_Large));
      end if;
      return Services.Buffered;
   end Plan;

   overriding function Answer
     (Self : in out Shop_Service; Request : HTTP.Request) return Response is
     (Answer (Request));

end Shop_Parts;
