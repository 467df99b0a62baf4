--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

package body Filter_Services is

   use Ada.Strings.Unbounded;
   use HTTP;

   overriding procedure Before
     (Self        : in out Noting;
      Request     : HTTP.Request;
      Answer      : in out Response;
      Is_Answered : in out Boolean) is
   begin
      Append (Notes, "before " & Self.Name & ", ");
      if Request.Path_Is ("/stop/" & Self.Name) then
         Answer := Empty (Forbidden);
         Is_Answered := True;
      elsif Request.Path_Is ("/raise/before") then
         raise Program_Error with "asked for";
      end if;
   end Before;

   overriding procedure After
     (Self : in out Noting; Request : HTTP.Request; Answer : in out Response) is
   begin
      Append (Notes, "after " & Self.Name & ", ");
      Request.Draft.Add_Field ("X-" & Self.Name, "1");
      if Request.Path_Is ("/raise/after") then
         raise Program_Error with "asked for";
      elsif Request.Path_Is ("/other") then
         Answer := Empty (Gone);
      end if;
   end After;

   overriding function Answer (Self : in out Catching; Request : HTTP.Request) return Response is
   begin
      return Self.Next.Answer (Request);
   exception
      when Program_Error =>
         return Empty (Conflict);
   end Answer;

   function Noted (Request : HTTP.Request; What : String) return Response is
   begin
      Append (Notes, What & ", ");
      Request.Draft.Append (What);
      return Written (Plain_Text'Access);
   end Noted;

   overriding procedure Take
     (Self : in out Receiver; Bytes : String; Wants_More : in out Boolean)
   is
      pragma Unreferenced (Self, Bytes, Wants_More);
   begin
      Append (Notes, "take, ");
   end Take;

   overriding function Answer (Self : in out Receiver; Request : HTTP.Request) return Response is
     (Noted (Request, "received"));

   overriding function Answer (Self : in out Plain; Request : HTTP.Request) return Response is
     (Noted (Request, "answer"));

   One_Receiver : aliased Receiver;

   overriding function Plan
     (Self : in out Planning; Request : HTTP.Request) return Services.Content_Plan is
   begin
      Append (Notes, "plan, ");
      return
        (if Request.Path_Is ("/stream") then Services.Received (One_Receiver'Access, 100)
         elsif Request.Path_Is ("/refused") then Services.Refused (Empty (Unauthorized))
         else Services.Buffered);
   end Plan;

   overriding function Answer (Self : in out Planning; Request : HTTP.Request) return Response is
     (Noted (Request, "answer"));

end Filter_Services;
