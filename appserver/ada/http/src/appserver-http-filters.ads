--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Work before and after the handlers of a service, such as to authenticate a client, or to add a
--  field to each response. A filter is a service itself, in front of another one:
--
--     type Guard is limited new HTTP.Filters.Filter with null record;
--
--     overriding procedure Before
--       (Self         : in out Guard;
--        Request      : HTTP.Request;
--        Response     : in out HTTP.Response;
--        Has_Response : in out Boolean);
--
--     Our_Shop : aliased Shop;
--     Guarded  : aliased Guard (Next => Our_Shop'Access);
--     …
--     Server.Start (Guarded'Access, Port => 8080);
--
--  A filter that works around a handler, such as to handle exceptions or measure time, overrides
--  Respond, and calls Self.Next.Respond. Requests that a server refuses by itself pass no filter.

pragma Ada_2022;

with Appserver.HTTP.Services;

package Appserver.HTTP.Filters is

   type Filter (Next : not null Services.Service_Reference) is
     abstract limited new Services.Content_Service with private;

   procedure Before
     (Self         : in out Filter;
      Request      : HTTP.Request;
      Response     : in out HTTP.Response;
      Has_Response : in out Boolean) is null;
   --  Called once for each request, with its header, before its content is read. If it sets
   --  Has_Response, Response is sent and Next is not called; else additions to the builder are
   --  lost.

   procedure After
     (Self : in out Filter; Request : HTTP.Request; Response : in out HTTP.Response) is null;
   --  Called with the response of Before or of Next before it is sent. It may add fields to the
   --  builder, or replace the response. It is not called after an exception of Next.

   overriding function Respond
     (Self : in out Filter; Request : HTTP.Request) return Response;

   overriding function Policy_For
     (Self : in out Filter; Request : HTTP.Request) return Services.Content_Policy;
   --  The policy of Next; Buffered if Next makes none

   overriding procedure Complete
     (Self : in out Filter; Request : HTTP.Request; Response : in out HTTP.Response);

   type Function_Service
     (Handle : not null access function (Request : HTTP.Request) return Response) is
     limited new Services.Service with null record;
   --  A handler that has no state, for filters in front of it

   overriding function Respond
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
