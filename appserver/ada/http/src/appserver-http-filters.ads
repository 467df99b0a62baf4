--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Filters, which run before and after the handlers of a service, for example to authenticate a
--  client or to add a field to each response. A filter is itself a service, which calls another
--  service:
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
--  A filter that wraps a handler, for example to handle exceptions or to measure time, overrides
--  Respond and calls Self.Next.Respond. Filters do not see requests that the server itself rejects.

pragma Ada_2022;

with Appserver.HTTP.Services;

package Appserver.HTTP.Filters is

   type Filter (Next : not null Services.Service_Reference) is
     abstract limited new Services.Content_Service with private;
   --  A filter, which processes requests before the service Next, and responses after it

   procedure Before
     (Self         : in out Filter;
      Request      : HTTP.Request;
      Response     : in out HTTP.Response;
      Has_Response : in out Boolean) is null;
   --  Handles or rejects a request before Next. Called once for each request, after its header has
   --  been parsed and before its content is read.
   --  @param Self the filter
   --  @param Request the header of the request
   --  @param Response the response to send if Has_Response is True
   --  @param Has_Response False before the call. If the filter sets it to True, the server sends
   --  Response and does not call Next. Otherwise, additions to the builder are discarded.

   procedure After
     (Self : in out Filter; Request : HTTP.Request; Response : in out HTTP.Response) is null;
   --  Changes a response before the server sends it. Called with the response of Before or Next,
   --  but not after an exception in Next. After may add header fields to the builder.
   --  @param Self the filter
   --  @param Request the request
   --  @param Response the response, which may be replaced

   overriding function Respond
     (Self : in out Filter; Request : HTTP.Request) return Response;
   --  Calls Before, then the service Next, and then After.
   --  @param Self the filter
   --  @param Request the request
   --  @return the response

   overriding function Policy_For
     (Self : in out Filter; Request : HTTP.Request) return Services.Content_Policy;
   --  Calls Before, and returns the policy of Next.
   --  @param Self the filter
   --  @param Request the header of the request
   --  @return the policy of Next; Services.Buffer if Next is not a Content_Service

   overriding procedure Complete
     (Self : in out Filter; Request : HTTP.Request; Response : in out HTTP.Response);
   --  Calls After with the response of a receiver.
   --  @param Self the filter
   --  @param Request the request
   --  @param Response the response, which may be replaced

   type Function_Service
     (Handle : not null access function (Request : HTTP.Request) return Response) is
     limited new Services.Service with null record;
   --  A service that calls a handler function, for use with filters

   overriding function Respond
     (Self : in out Function_Service; Request : HTTP.Request) return Response is
     (Self.Handle (Request));
   --  @param Self the service
   --  @param Request the request
   --  @return the response of Handle

private

   function Next_Mark return Filter_Marks;
   --  Returns a bit that no other filter in the program uses; 0 if all bits are in use

   type Filter (Next : not null Services.Service_Reference) is
     abstract limited new Services.Content_Service with record
      Mark : Filter_Marks := Next_Mark;
   end record;

end Appserver.HTTP.Filters;
