--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

pragma Ada_2022;

package body Appserver.HTTP.Filters is

   use type Services.Policy_Kind;

   protected Marks is
      procedure Get (Mark : out Filter_Marks);
   private
      Next : Filter_Marks := 1;
   end Marks;

   protected body Marks is
      procedure Get (Mark : out Filter_Marks) is
      begin
         Mark := Next;
         Next := Next * 2;
      end Get;
   end Marks;

   function Next_Mark return Filter_Marks is
   begin
      return Result : Filter_Marks do
         Marks.Get (Result);
      end return;
   end Next_Mark;

   function Plans (Self : Filter) return Boolean is
     (Self.Next.all in Services.Content_Service'Class);

   overriding function Respond (Self : in out Filter; Request : HTTP.Request) return Response is
      Has_Response : Boolean := False;
   begin
      return Result : Response := Status_Only (Not_Found) do
         --  A filter without a mark is called more than once
         if (Request.State.Passed and Self.Mark) = 0 then
            Filter'Class (Self).Before (Request, Result, Has_Response);
         end if;
         if not Has_Response then
            Result := Self.Next.Respond (Request);
         end if;
         Filter'Class (Self).After (Request, Result);
      end return;
   end Respond;

   --  Calls After and returns the policy to reject a request, since Respond is not called for
   --  rejected requests

   function Refused
     (Self : in out Filter; Request : HTTP.Request; Response : HTTP.Response)
      return Services.Content_Policy
   is
      Result : HTTP.Response := Response;
   begin
      Filter'Class (Self).After (Request, Result);
      return Services.Reject (Result);
   end Refused;

   overriding function Policy_For
     (Self : in out Filter; Request : HTTP.Request) return Services.Content_Policy
   is
      Response     : HTTP.Response := Status_Only (Not_Found);
      Has_Response : Boolean := False;
   begin
      Filter'Class (Self).Before (Request, Response, Has_Response);
      if Has_Response then
         return Refused (Self, Request, Response);
      elsif not Plans (Self) then
         return Services.With_Passed
           (Services.Buffer, Services.Filter_Marks (Self.Mark));
      end if;
      declare
         Policy : constant Services.Content_Policy :=
           Services.Content_Service'Class (Self.Next.all).Policy_For (Request);
      begin
         return
           (if Services.Kind_Of (Policy) = Services.Reject
            then Refused (Self, Request, Services.Response_Of (Policy))
            else Services.With_Passed
                   (Policy, Services."or" (Services.Passed_By (Policy),
                                         Services.Filter_Marks (Self.Mark))));
      end;
   end Policy_For;

   overriding procedure Complete
     (Self : in out Filter; Request : HTTP.Request; Response : in out HTTP.Response) is
   begin
      if Plans (Self) then
         Services.Content_Service'Class (Self.Next.all).Complete (Request, Response);
      end if;
      Filter'Class (Self).After (Request, Response);
   end Complete;

end Appserver.HTTP.Filters;
