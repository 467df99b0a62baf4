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

   function Respond (Request : HTTP.Request) return Response is
   begin
      if Request.Path_Is ("/queries") then
         Make_Queries (Natural'Value (Request.Parameter ("count")));
      elsif Request.Path_Is ("/broken") then
         raise Constraint_Error with "as asked";
      elsif Request.Path_Starts_With ("/named/") then
         Monitors.Set_Page ("GET /named/{name}");
      elsif Request.Path_Starts_With ("/missing") then
         return Status_Only (Not_Found);
      end if;
      return Status_Only (No_Content);
   end Respond;

   overriding procedure Receive
     (Self : in out Count_Bytes; Bytes : String; Wants_More : in out Boolean)
   is
      pragma Unreferenced (Wants_More);
   begin
      Self.Count := Self.Count + Bytes'Length;
   end Receive;

   overriding function Respond
     (Self : in out Count_Bytes; Request : HTTP.Request) return Response is
   begin
      Make_Queries (1);
      Request.Builder.Append (Self.Count'Image);
      return Text_Response (Plain_Text'Access);
   end Respond;

   overriding function Policy_For
     (Self : in out Shop_Service; Request : HTTP.Request) return Services.Content_Policy is
   begin
      if Request.Path_Is ("/upload") then
         Receiver.Count := 0;
         return Services.Stream (Receiver'Access, Limit => 1_000);
      elsif Request.Path_Is ("/refused") then
         return Services.Reject (Status_Only (Content_Too_Large));
      end if;
      return Services.Buffer;
   end Policy_For;

   overriding function Respond
     (Self : in out Shop_Service; Request : HTTP.Request) return Response is
     (Respond (Request));

end Shop_Parts;
