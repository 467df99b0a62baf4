--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Services, which are handlers with state, such as a connection pool, a cache or settings. Pass a
--  service to Start instead of a function.
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
--  Declare the service object in a library-level package, or allocate it with "new", since it must
--  outlive its server.

pragma Ada_2022;

package Appserver.HTTP.Services is

   pragma Assertion_Policy (Pre => Check, Pre'Class => Check);

   type Service is limited interface;
   --  A handler that is an object, and can have state

   function Respond
     (Self : in out Service; Request : HTTP.Request) return Response is abstract;
   --  Handles a request, like a Handler. The server profile calls this function from multiple tasks
   --  concurrently, so changes to shared data must be synchronized.
   --  @param Self the service
   --  @param Request the request
   --  @return the response

   type Service_Reference is access all Service'Class;

   function Not_Here (Request : HTTP.Request) return Response;
   --  Responds with 404 (Not Found). Servers that use a service have this function as their default
   --  handler.
   --  @param Request the request
   --  @return 404

   ----------------------
   -- Streamed content --
   ----------------------

   --  Receives content of any length in constant memory, without occupying a task during waits for
   --  the client. The server calls a receiver when content has arrived, from one task at a time,
   --  but not always the same task. During such a call, the server does not read from the client.

   type Content_Receiver is limited interface;

   procedure Receive
     (Self : in out Content_Receiver; Bytes : String; Wants_More : in out Boolean) is abstract;
   --  Receives the next bytes of the content. If this procedure raises an exception, the server
   --  responds with 500.
   --  @param Self the receiver
   --  @param Bytes the next bytes, at least one
   --  @param Wants_More True before the call. Set it to False to stop: the server then calls
   --  Respond, and closes the connection after the response.

   function Respond
     (Self : in out Content_Receiver; Request : HTTP.Request) return Response is abstract;
   --  Returns the response. Called after the last byte of the content.
   --  @param Self the receiver
   --  @param Request the request, without its content
   --  @return the response

   procedure Close (Self : not null access Content_Receiver) is null;
   --  Releases the receiver. This is always the last call, and the server no longer refers to the
   --  receiver, so Close may free it. Close must not block. If the server has not called Respond,
   --  either the client has disconnected or the server has rejected the request. Exceptions are
   --  ignored.
   --  @param Self the receiver

   type Receiver_Reference is access all Content_Receiver'Class;

   type Content_Policy is private;
   --  The way in which the server handles the content of a request

   function Buffer (Limit : Natural := Natural'Last) return Content_Policy;
   --  Returns a policy to buffer the content: the server calls the service's Respond when all
   --  content has arrived.
   --  @param Limit the maximum length in bytes. If the content exceeds this limit or the server's
   --  own limit, the response is 413.
   --  @return the policy

   function Stream
     (Receiver : not null Receiver_Reference; Limit : Byte_Count) return Content_Policy;
   --  Returns a policy to pass the content to a receiver as it arrives.
   --  @param Receiver the receiver
   --  @param Limit the maximum length in bytes. If the content is longer, the response is 413. The
   --  server sends this response immediately if the header states a longer length, otherwise when
   --  the content exceeds the limit.
   --  @return the policy

   function Reject (Response : HTTP.Response) return Content_Policy;
   --  Returns a policy to reject the request without reading its content: the server sends the
   --  response immediately and then closes the connection.
   --  @param Response the response
   --  @return the policy

   type Content_Service is limited interface and Service;
   --  A service that the server calls before it reads content. The service can set its own limits,
   --  receive streams, or reject a request before the client has sent the content.

   function Policy_For
     (Self : in out Content_Service; Request : HTTP.Request) return Content_Policy is abstract;
   --  Determines how the content of a request is handled. Called with the header of each request
   --  that has content, from the same tasks as Respond. If this function raises an exception, the
   --  server responds with 500.
   --  @param Self the service
   --  @param Request the header of the request
   --  @return the policy

   procedure Complete
     (Self     : in out Content_Service;
      Request  : HTTP.Request;
      Response : in out HTTP.Response) is null;
   --  Changes the response of a receiver before the server sends it.
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
   --  Passed_By returns the set of filters that have already processed the request, and With_Passed
   --  replaces this set

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
