--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

package body Filter_Services is

   use Ada.Strings.Unbounded;
   use HTTP;

   overriding procedure Before
     (Self         : in out Noting;
      Request      : HTTP.Request;
      Response     : in out HTTP.Response;
      Has_Response : in out Boolean) is
   begin
      Append (Notes, "before " & Self.Name & ", ");
      if Request.Path_Is ("/stop/" & Self.Name) then
         Response := Status_Only (Forbidden);
         Has_Response := True;
      elsif Request.Path_Is ("/raise/before") then
         raise Program_Error with "asked for";
      end if;
   end Before;

   overriding procedure After
     (Self : in out Noting; Request : HTTP.Request; Response : in out HTTP.Response) is
   begin
      Append (Notes, "after " & Self.Name & ", ");
      Request.Builder.Add_Field ("X-" & Self.Name, "1");
      if Request.Path_Is ("/raise/after") then
         raise Program_Error with "asked for";
      elsif Request.Path_Is ("/other") then
         Response := Status_Only (Gone);
      end if;
   end After;

   overriding function Respond (Self : in out Catching; Request : HTTP.Request) return Response is
   begin
      return Self.Next.Respond (Request);
   exception
      when Program_Error =>
         return Status_Only (Conflict);
   end Respond;

   function Noted (Request : HTTP.Request; What : String) return Response is
   begin
      Append (Notes, What & ", ");
      Request.Builder.Append (What);
      return Text_Response (Plain_Text'Access);
   end Noted;

   overriding procedure Receive
     (Self : in out Receiver; Bytes : String; Wants_More : in out Boolean)
   is
      pragma Unreferenced (Self, Bytes, Wants_More);
   begin
      Append (Notes, "take, ");
   end Receive;

   overriding function Respond (Self : in out Receiver; Request : HTTP.Request) return Response is
     (Noted (Request, "received"));

   overriding function Respond (Self : in out Plain; Request : HTTP.Request) return Response is
     (Noted (Request, "answer"));

   One_Receiver : aliased Receiver;

   overriding function Policy_For
     (Self : in out Planning; Request : HTTP.Request) return Services.Content_Policy is
   begin
      Append (Notes, "plan, ");
      return
        (if Request.Path_Is ("/stream") then Services.Stream (One_Receiver'Access, 100)
         elsif Request.Path_Is ("/refused") then Services.Reject (Status_Only (Unauthorized))
         else Services.Buffer);
   end Policy_For;

   overriding function Respond (Self : in out Planning; Request : HTTP.Request) return Response is
     (Noted (Request, "answer"));

end Filter_Services;
