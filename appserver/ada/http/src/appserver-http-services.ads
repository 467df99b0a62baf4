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
--     overriding function Answer
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

   function Answer
     (Self : in out Service; Request : HTTP.Request) return Response is abstract;
   --  Answers a request, as a Handler does. The server profile calls it from several tasks at once:
   --  data that it changes must be protected.

   type Service_Reference is access all Service'Class;

   function Not_Here (Request : HTTP.Request) return Response;
   --  404, for a server that has a service and no function

   -----------------------
   -- Content by streams --
   -----------------------

   --  Content of any length, in constant memory: no task waits for it. A receiver is called when
   --  some content has arrived, by one task at a time, though not always the same. During the call
   --  nothing more is read from the client.

   type Content_Receiver is limited interface;

   procedure Take
     (Self : in out Content_Receiver; Bytes : String; Wants_More : in out Boolean) is abstract;
   --  Bytes are the next of the content, at least one. Wants_More is True before; if it is False
   --  afterwards, Answer is called next, and the connection is closed after the answer. Exceptions
   --  are answered with 500.

   function Answer
     (Self : in out Content_Receiver; Request : HTTP.Request) return Response is abstract;
   --  The answer to a request whose content was taken to its end

   procedure Close (Self : not null access Content_Receiver) is null;
   --  The last call, made in any case: the server has no reference any more, so Close may free the
   --  receiver. It has to be quick. If Answer was not called before, the client has disconnected or
   --  the request was refused. Exceptions are ignored.

   type Receiver_Reference is access all Content_Receiver'Class;

   type Content_Plan is private;
   --  Determines how the content of a request is handled

   function Buffered (Limit : Natural := Natural'Last) return Content_Plan;
   --  The service's Answer is called when all content has arrived. More than Limit bytes, or than
   --  the server's limit, are refused with 413.

   function Received
     (Receiver : not null Receiver_Reference; Limit : Byte_Count) return Content_Plan;
   --  Receiver takes the content. More than Limit bytes are refused with 413: at once if the client
   --  announces the length, else when they arrive.

   function Refused (Answer : Response) return Content_Plan;
   --  The content is not read: the answer is sent at once, and the connection is closed after it

   type Content_Service is limited interface and Service;
   --  A service that is called before content is read: to set limits of its own, to receive
   --  streams, or to refuse a request before the client has sent its content

   function Plan
     (Self : in out Content_Service; Request : HTTP.Request) return Content_Plan is abstract;
   --  Called, as Answer is, with the header of each request that has content. Exceptions are
   --  answered with 500.

   procedure Complete
     (Self : in out Content_Service; Request : HTTP.Request; Answer : in out Response) is null;
   --  Called with a receiver's answer before it is sent

   -----------------
   -- For servers --
   -----------------

   type Plan_Kind is (Buffer, Stream, Refuse);

   function Kind_Of (Plan : Content_Plan) return Plan_Kind;
   function Limit_Of (Plan : Content_Plan) return Byte_Count;
   function Receiver_Of (Plan : Content_Plan) return Receiver_Reference;
   function Answer_Of (Plan : Content_Plan) return Response;

   type Filter_Marks is mod 2 ** 64;

   function Passed_By (Plan : Content_Plan) return Filter_Marks;
   function With_Passed (Plan : Content_Plan; Passed : Filter_Marks) return Content_Plan;
   --  The filters that were asked for it, a bit for each

private

   type Content_Plan is record
      Kind     : Plan_Kind := Buffer;
      Limit    : Byte_Count := Byte_Count'Last;
      Receiver : Receiver_Reference := null;
      Answer   : Response := Empty (Not_Found);
      Passed   : Filter_Marks := 0;
   end record;

   function Passed_By (Plan : Content_Plan) return Filter_Marks is (Plan.Passed);
   function With_Passed (Plan : Content_Plan; Passed : Filter_Marks) return Content_Plan is
     ((Plan with delta Passed => Passed));

   function Kind_Of (Plan : Content_Plan) return Plan_Kind is (Plan.Kind);
   function Limit_Of (Plan : Content_Plan) return Byte_Count is (Plan.Limit);
   function Receiver_Of (Plan : Content_Plan) return Receiver_Reference is (Plan.Receiver);
   function Answer_Of (Plan : Content_Plan) return Response is (Plan.Answer);
   function Buffered (Limit : Natural := Natural'Last) return Content_Plan is
     ((Kind => Buffer, Limit => Byte_Count (Limit), others => <>));
   function Received
     (Receiver : not null Receiver_Reference; Limit : Byte_Count) return Content_Plan is
     ((Kind => Stream, Limit => Limit, Receiver => Receiver, others => <>));
   function Refused (Answer : Response) return Content_Plan is
     ((Kind => Refuse, Answer => Answer, others => <>));

   function Not_Here (Request : HTTP.Request) return Response is (Empty (Not_Found));

end Appserver.HTTP.Services;
