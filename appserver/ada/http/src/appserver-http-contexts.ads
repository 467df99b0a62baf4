--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  The memory in which a task answers the requests of all its connections: the bytes of a request,
--  a response builder, and the responses that are to be sent.

pragma Ada_2022;

with Appserver.HTTP.Dates;
with Appserver.HTTP.Services;

private package Appserver.HTTP.Contexts is

   pragma Assertion_Policy (Pre => Check, Pre'Class => Check);

   --  Content that is sent after the bytes of a response, without a copy: a part of a file, text
   --  that lives as long as the program, or the bytes of a source

   type Framing is (Counted, Chunked, To_The_End);

   type Tail is record
      File    : Descriptor       := No_File;
      Text    : Constant_Text    := null;
      Source  : Source_Reference := null;
      Framing : Contexts.Framing := Counted;
      --  How the source's bytes are delimited
      Offset  : Byte_Count       := 0;
      Length  : Byte_Count       := 0;
      --  Bytes that are still to be sent; Byte_Count'Last if that is not known
   end record;

   No_Tail : constant Tail := (others => <>);

   procedure Drop (Self : in out Tail);
   --  Closes the file or the source, and leaves nothing to be sent

   Max_Header_Length : constant := Fields_Capacity + 512;
   --  Bytes of a response's header

   type Context
     (Request_Capacity, Output_Capacity : Positive;
      Builder : not null access Response_Builder;
      Owner   : Natural)
   is limited record
      Request : HTTP.Request (Request_Capacity, Builder);
      Tail    : Contexts.Tail;
      Status  : Status_Code := OK;
      Length  : Byte_Count := 0;
      --  Status, and length of the content, of the latest response
      First   : Positive := 1;
      Last    : Natural  := 0;
      Output  : String (1 .. Output_Capacity);
      --  Output (First .. Last) is to be sent
   end record;
   --  Output_Capacity is at least Builder.Capacity + Max_Header_Length, the length of the longest
   --  response.

   function Has_Output (Self : Context) return Boolean is
     (Self.Last >= Self.First or else Self.Tail.Length > 0);

   function Has_Room (Self : Context) return Boolean is
     (Self.Tail.Length = 0
      and then Self.Output_Capacity - Self.Last >= Self.Builder.Capacity + Max_Header_Length);
   --  True if there is room for any response

   function Handler_Response
     (Handle   : Handler;
      Service  : Services.Service_Reference;
      Receiver : Services.Receiver_Reference;
      Self     : Context;
      Report   : Exception_Report) return Response;
   --  The response of the receiver, or of the service if there is no receiver, or of the function
   --  if there is no service, to the context's request. Exceptions are passed to Report, if it is
   --  not null, and not raised.

   function Policy_Of
     (Service : not null Services.Service_Reference; Self : Context; Report : Exception_Report)
      return Services.Content_Policy;
   --  The policy for the content of the request, whose header is complete

   type Delivery is (Is_Wanted, Is_Enough, Has_Failed);

   procedure Deliver
     (Self     : in out Context;
      Receiver : not null Services.Receiver_Reference;
      Report   : Exception_Report;
      Result   : out Delivery);
   --  Moves the content that has arrived to the receiver

   procedure Close (Receiver : in out Services.Receiver_Reference)
     with Post => Services."=" (Receiver, null);
   --  Closes the receiver, if it is not null

   function Ends_With_Connection (Self : Context; Response : HTTP.Response) return Boolean;
   --  True if the response ends only with the connection

   procedure Pass_On
     (Report       : Exception_Report;
      Error        : Ada.Exceptions.Exception_Occurrence;
      Request_Line : String := "");
   --  Calls Report, if it is not null. Raises no exception.

   procedure Put_Response
     (Self     : in out Context;
      Response : HTTP.Response;
      Date     : Dates.Date_Text;
      Closes   : Boolean)
     with Pre => Has_Room (Self);
   --  Adds the response to Output, with the handler's fields and content in the builder

   procedure Put_Piece (Self : in out Context; Report : Exception_Report; Is_Cut : out Boolean)
     with Pre => Self.Last < Self.First;
   --  Asks the source of the tail for more and adds that. The tail is gone when everything was
   --  added. Is_Cut: the source failed, and the connection is to be closed.

   procedure Put_Server_Response
     (Self : in out Context; Date : Dates.Date_Text; Closes : Boolean)
     with Pre => Has_Room (Self);
   --  To OPTIONS *

   function Refusal (Status : Status_Code; Date : Dates.Date_Text) return String;
   --  The response to an invalid request, or to one that is refused

   procedure Put_Refusal
     (Self : in out Context; Status : Status_Code; Date : Dates.Date_Text)
     with Pre => Has_Room (Self);
   --  The connection is to be closed then

   procedure Put_Continue (Self : in out Context)
     with Pre => Has_Room (Self);
   --  100: go on with the content

end Appserver.HTTP.Contexts;
