--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  What is done before and after the handlers of a service, such as to find out who asks, or to
--  add a field to each response. A filter is a service itself, in front of another one:
--
--     type Guard is limited new HTTP.Filters.Filter with null record;
--
--     overriding procedure Before
--       (Self        : in out Guard;
--        Request     : HTTP.Request;
--        Answer      : in out HTTP.Response;
--        Is_Answered : in out Boolean);
--
--     Our_Shop : aliased Shop;
--     Guarded  : aliased Guard (Next => Our_Shop'Access);
--     …
--     Server.Start (Guarded'Access, Port => 8080);
--
--  One that does something around a handler, such as to take an exception or the time, overrides
--  Answer, and calls Self.Next.Answer. What a server refuses by itself passes no filter.

pragma Ada_2022;

with Appserver.HTTP.Services;

package Appserver.HTTP.Filters is

   type Filter (Next : not null Services.Service_Reference) is
     abstract limited new Services.Content_Service with private;

   procedure Before
     (Self        : in out Filter;
      Request     : HTTP.Request;
      Answer      : in out Response;
      Is_Answered : in out Boolean) is null;
   --  Called once for each request: with its header, before its content is read. If it sets
   --  Is_Answered, Answer is sent and Next is not asked. What it adds to the draft is lost if it
   --  does not.

   procedure After
     (Self : in out Filter; Request : HTTP.Request; Answer : in out Response) is null;
   --  Called with the response, be it of Before or of Next, before it is sent. It may add fields
   --  to the draft, or answer something else. An exception of Next goes past it.

   overriding function Answer
     (Self : in out Filter; Request : HTTP.Request) return Response;

   overriding function Plan
     (Self : in out Filter; Request : HTTP.Request) return Services.Content_Plan;
   --  That of Next; Buffered if it has none

   overriding procedure Complete
     (Self : in out Filter; Request : HTTP.Request; Answer : in out Response);

   type Function_Service
     (Handle : not null access function (Request : HTTP.Request) return Response) is
     limited new Services.Service with null record;
   --  A handler that has no state, for filters in front of it

   overriding function Answer
     (Self : in out Function_Service; Request : HTTP.Request) return Response is
     (Self.Handle (Request));

private

   function Next_Mark return Filter_Marks;
   --  One bit that no other filter of the program has; none if there are no more

   type Filter (Next : not null Services.Service_Reference) is
     abstract limited new Services.Content_Service with record
      Mark : Filter_Marks := Next_Mark;
   end record;

end Appserver.HTTP.Filters;
