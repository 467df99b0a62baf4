--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Handlers with state, such as a connection pool, a cache or settings. Pass a service to Start in
--  place of a function.
--
--     type Shop is limited new HTTP.Services.Service with record
--        Orders : Order_Pool;
--     end record;
--
--     overriding function Respond
--       (Self : in out Shop; Request : HTTP.Request) return HTTP.Response;
--
--     Our_Shop : aliased Shop;
--     …
--     Server.Start (Our_Shop'Access, Port => 8080);
--
--  Declare the object in a library package, or allocate it: it must outlive its server.

pragma Ada_2022;

package Appserver.HTTP.Services is

   pragma Assertion_Policy (Pre => Check, Pre'Class => Check);

   type Service is limited interface;
   --  A handler with state

   function Respond
     (Self : in out Service; Request : HTTP.Request) return Response is abstract;
   --  Handles a request, as a Handler does. The server profile calls it from multiple tasks at
   --  once: protect the data that it changes.
   --  @param Self the service
   --  @param Request the request
   --  @return the response

   type Service_Reference is access all Service'Class;

   function Not_Here (Request : HTTP.Request) return Response;
   --  The handler function of a server that has a service instead.
   --  @param Request the request
   --  @return 404

   ----------------------
   -- Streamed content --
   ----------------------

   --  Receives content of any length in constant memory, and without a waiting task. The server
   --  calls a receiver when some content has arrived, from one task at a time, but not always the
   --  same one. Meanwhile it reads nothing from the client.

   type Content_Receiver is limited interface;

   procedure Receive
     (Self : in out Content_Receiver; Bytes : String; Wants_More : in out Boolean) is abstract;
   --  Receives the next bytes of the content. The server answers an exception with 500.
   --  @param Self the receiver
   --  @param Bytes the next bytes, at least one
   --  @param Wants_More True before the call. Set it to False to stop: the server then calls
   --  Respond, and closes the connection after the response.

   function Respond
     (Self : in out Content_Receiver; Request : HTTP.Request) return Response is abstract;
   --  Makes the response after the last byte of the content.
   --  @param Self the receiver
   --  @param Request the request, without its content
   --  @return the response

   procedure Close (Self : not null access Content_Receiver) is null;
   --  Releases the receiver. This is always the last call: the server has no reference any more, so
   --  Close may free the receiver. It must not block. If Respond was not called before, the client
   --  has disconnected or the server rejected the request. Exceptions are ignored.
   --  @param Self the receiver

   type Receiver_Reference is access all Content_Receiver'Class;

   type Content_Policy is private;
   --  Determines how the server handles the content of a request

   function Buffer (Limit : Natural := Natural'Last) return Content_Policy;
   --  Buffers the content: the server calls the service's Respond when all content has arrived.
   --  @param Limit the maximum length in bytes. Longer content, or content above the server's own
   --  limit, is answered with 413.
   --  @return the policy

   function Stream
     (Receiver : not null Receiver_Reference; Limit : Byte_Count) return Content_Policy;
   --  Passes the content to a receiver as it arrives.
   --  @param Receiver the receiver
   --  @param Limit the maximum length in bytes. Longer content is answered with 413: at once if the
   --  client announces the length, else when the limit is exceeded.
   --  @return the policy

   function Reject (Response : HTTP.Response) return Content_Policy;
   --  Does not read the content: the server sends the response at once, and then closes the
   --  connection.
   --  @param Response the response
   --  @return the policy

   type Content_Service is limited interface and Service;
   --  A service that the server calls before it reads content: to set its own limits, to receive
   --  streams, or to reject a request before the client has sent its content

   function Policy_For
     (Self : in out Content_Service; Request : HTTP.Request) return Content_Policy is abstract;
   --  Determines how the content of a request is handled. The server calls it, as it calls Respond,
   --  with the header of each request that has content. It answers an exception with 500.
   --  @param Self the service
   --  @param Request the header of the request
   --  @return the policy

   procedure Complete
     (Self     : in out Content_Service;
      Request  : HTTP.Request;
      Response : in out HTTP.Response) is null;
   --  Called with the response of a receiver before the server sends it.
   --  @param Self the service
   --  @param Request the request
   --  @param Response the response, which may be replaced

   -----------------
   -- For servers --
   -----------------

   type Policy_Kind is (Buffer, Stream, Reject);

   function Kind_Of (Policy : Content_Policy) return Policy_Kind;
   function Limit_Of (Policy : Content_Policy) return Byte_Count;
   function Receiver_Of (Policy : Content_Policy) return Receiver_Reference;
   function Response_Of (Policy : Content_Policy) return Response;

   type Filter_Marks is mod 2 ** 64;

   function Passed_By (Policy : Content_Policy) return Filter_Marks;
   function With_Passed (Policy : Content_Policy; Passed : Filter_Marks) return Content_Policy;
   --  The filters that have seen the request already, one bit each

private

   type Content_Policy is record
      Kind     : Policy_Kind := Buffer;
      Limit    : Byte_Count := Byte_Count'Last;
      Receiver : Receiver_Reference := null;
      Response : HTTP.Response := Status_Only (Not_Found);
      Passed   : Filter_Marks := 0;
   end record;

   function Passed_By (Policy : Content_Policy) return Filter_Marks is (Policy.Passed);
   function With_Passed (Policy : Content_Policy; Passed : Filter_Marks) return Content_Policy is
     ((Policy with delta Passed => Passed));

   function Kind_Of (Policy : Content_Policy) return Policy_Kind is (Policy.Kind);
   function Limit_Of (Policy : Content_Policy) return Byte_Count is (Policy.Limit);
   function Receiver_Of (Policy : Content_Policy) return Receiver_Reference is (Policy.Receiver);
   function Response_Of (Policy : Content_Policy) return Response is (Policy.Response);
   function Buffer (Limit : Natural := Natural'Last) return Content_Policy is
     ((Kind => Buffer, Limit => Byte_Count (Limit), others => <>));
   function Stream
     (Receiver : not null Receiver_Reference; Limit : Byte_Count) return Content_Policy is
     ((Kind => Stream, Limit => Limit, Receiver => Receiver, others => <>));
   function Reject (Response : HTTP.Response) return Content_Policy is
     ((Kind => Reject, Response => Response, others => <>));

   function Not_Here (Request : HTTP.Request) return Response is (Status_Only (Not_Found));

end Appserver.HTTP.Services;
