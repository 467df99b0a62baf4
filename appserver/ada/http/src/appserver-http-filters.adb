--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

pragma Ada_2022;

package body Appserver.HTTP.Filters is

   use type Services.Plan_Kind;

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

   overriding function Answer (Self : in out Filter; Request : HTTP.Request) return Response is
      Is_Answered : Boolean := False;
   begin
      return Result : Response := Empty (Not_Found) do
         --  A filter that has no mark is asked again
         if (Request.State.Passed and Self.Mark) = 0 then
            Filter'Class (Self).Before (Request, Result, Is_Answered);
         end if;
         if not Is_Answered then
            Result := Self.Next.Answer (Request);
         end if;
         Filter'Class (Self).After (Request, Result);
      end return;
   end Answer;

   --  What is refused here does not come to Answer

   function Refused
     (Self : in out Filter; Request : HTTP.Request; Answer : Response)
      return Services.Content_Plan
   is
      Result : Response := Answer;
   begin
      Filter'Class (Self).After (Request, Result);
      return Services.Refused (Result);
   end Refused;

   overriding function Plan
     (Self : in out Filter; Request : HTTP.Request) return Services.Content_Plan
   is
      Answer      : Response := Empty (Not_Found);
      Is_Answered : Boolean := False;
   begin
      Filter'Class (Self).Before (Request, Answer, Is_Answered);
      if Is_Answered then
         return Refused (Self, Request, Answer);
      elsif not Plans (Self) then
         return Services.With_Passed
           (Services.Buffered, Services.Filter_Marks (Self.Mark));
      end if;
      declare
         Plan : constant Services.Content_Plan :=
           Services.Content_Service'Class (Self.Next.all).Plan (Request);
      begin
         return
           (if Services.Kind_Of (Plan) = Services.Refuse
            then Refused (Self, Request, Services.Answer_Of (Plan))
            else Services.With_Passed
                   (Plan, Services."or" (Services.Passed_By (Plan),
                                         Services.Filter_Marks (Self.Mark))));
      end;
   end Plan;

   overriding procedure Complete
     (Self : in out Filter; Request : HTTP.Request; Answer : in out Response) is
   begin
      if Plans (Self) then
         Services.Content_Service'Class (Self.Next.all).Complete (Request, Answer);
      end if;
      Filter'Class (Self).After (Request, Answer);
   end Complete;

end Appserver.HTTP.Filters;
