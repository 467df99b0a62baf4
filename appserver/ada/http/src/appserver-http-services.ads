--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Handlers that have a state of their own: a pool of connections, a cache, settings. A server is
--  started with one in place of a function.
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
--  Declare the object in a library package, or allocate it: it must not end before its server.

pragma Ada_2022;

package Appserver.HTTP.Services is

   pragma Assertion_Policy (Pre => Check, Pre'Class => Check);

   type Service is limited interface;

   function Respond
     (Self : in out Service; Request : HTTP.Request) return Response is abstract;
   --  Answers a request, as a Handler does. The server profile calls it from several tasks at once:
   --  data that it changes must be protected.

   type Service_Reference is access all Service'Class;

   function Not_Here (Request : HTTP.Request) return Response;
   --  404, for a server that has a service and no function

   ------------------------
   -- Content by streams --
   ------------------------

   --  Content of any length, in constant memory: no task waits for it. A receiver is called when
   --  some content has arrived, by one task at a time, though not always the same. During the call
   --  nothing more is read from the client.

   type Content_Receiver is limited interface;

   procedure Receive
     (Self : in out Content_Receiver; Bytes : String; Wants_More : in out Boolean) is abstract;
   --  Bytes are the next of the content, at least one. Wants_More is True before; if it is False
   --  afterwards, Respond is called next, and the connection is closed after the response.
   --  Exceptions are answered with 500.

   function Respond
     (Self : in out Content_Receiver; Request : HTTP.Request) return Response is abstract;
   --  The response to a request whose content was taken to its end

   procedure Close (Self : not null access Content_Receiver) is null;
   --  The last call, made in any case: the server has no reference any more, so Close may free the
   --  receiver. It has to be quick. If Respond was not called before, the client has disconnected
   --  or the request was refused. Exceptions are ignored.

   type Receiver_Reference is access all Content_Receiver'Class;

   type Content_Policy is private;
   --  Determines how the content of a request is handled

   function Buffer (Limit : Natural := Natural'Last) return Content_Policy;
   --  The service's Respond is called when all content has arrived. More than Limit bytes, or than
   --  the server's limit, are refused with 413.

   function Stream
     (Receiver : not null Receiver_Reference; Limit : Byte_Count) return Content_Policy;
   --  Receiver takes the content. More than Limit bytes are refused with 413: at once if the client
   --  announces the length, else when they arrive.

   function Reject (Response : HTTP.Response) return Content_Policy;
   --  The content is not read: the response is sent at once, and the connection is closed after it

   type Content_Service is limited interface and Service;
   --  A service that is called before content is read: to set limits of its own, to receive
   --  streams, or to refuse a request before the client has sent its content

   function Policy_For
     (Self : in out Content_Service; Request : HTTP.Request) return Content_Policy is abstract;
   --  Called, as Respond is, with the header of each request that has content. Exceptions are
   --  answered with 500.

   procedure Complete
     (Self     : in out Content_Service;
      Request  : HTTP.Request;
      Response : in out HTTP.Response) is null;
   --  Called with a receiver's response before it is sent

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
   --  The filters that were asked for it, a bit for each

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
