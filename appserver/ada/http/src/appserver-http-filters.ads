--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Work before and after the handlers of a service, such as to authenticate a client, or to add a
--  field to each response. A filter is a service itself, in front of another one:
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
--  A filter that works around a handler, such as to handle exceptions or measure time, overrides
--  Answer, and calls Self.Next.Answer. Requests that a server refuses by itself pass no filter.

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
   --  Called once for each request, with its header, before its content is read. If it sets
   --  Is_Answered, Answer is sent and Next is not called; else additions to the draft are lost.

   procedure After
     (Self : in out Filter; Request : HTTP.Request; Answer : in out Response) is null;
   --  Called with the response of Before or of Next before it is sent. It may add fields to the
   --  draft, or replace the answer. It is not called after an exception of Next.

   overriding function Answer
     (Self : in out Filter; Request : HTTP.Request) return Response;

   overriding function Plan
     (Self : in out Filter; Request : HTTP.Request) return Services.Content_Plan;
   --  The plan of Next; Buffered if Next makes none

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
   --  A bit that no other filter of the program has; 0 if all are in use

   type Filter (Next : not null Services.Service_Reference) is
     abstract limited new Services.Content_Service with record
      Mark : Filter_Marks := Next_Mark;
   end record;

end Appserver.HTTP.Filters;
