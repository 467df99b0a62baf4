--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  The memory that a task uses to process the requests of all its connections: the bytes of a
--  request, a response builder, and the responses to send.

pragma Ada_2022;

with Appserver.HTTP.Dates;
with Appserver.HTTP.Services;

private package Appserver.HTTP.Contexts is

   pragma Assertion_Policy (Pre => Check, Pre'Class => Check);

   --  Content that is sent after the bytes in the output buffer, without copying: a section of a
   --  file, text that exists for the lifetime of the program, or the bytes of a source

   type Framing is (Counted, Chunked, To_The_End);

   type Tail is record
      File    : Descriptor       := No_File;
      Text    : Constant_Text    := null;
      Source  : Source_Reference := null;
      Framing : Contexts.Framing := Counted;
      --  The way in which the source's bytes are framed (RFC 9112, 6)
      Offset  : Byte_Count       := 0;
      Length  : Byte_Count       := 0;
      --  The number of bytes that remain to be sent; Byte_Count'Last if unknown
   end record;

   No_Tail : constant Tail := (others => <>);

   procedure Drop (Self : in out Tail);
   --  Closes the file or the source, and clears the tail

   Max_Header_Length : constant := Fields_Capacity + 512;
   --  The maximum length of a response header, in bytes

   type Context
     (Request_Capacity, Output_Capacity : Positive;
      Builder : not null access Response_Builder;
      Owner   : Natural)
   is limited record
      Request : HTTP.Request (Request_Capacity, Builder);
      Tail    : Contexts.Tail;
      Status  : Status_Number := OK;
      --  The status of the latest response
      Length  : Byte_Count := 0;
      --  The content length of the latest response, in bytes
      First   : Positive := 1;
      Last    : Natural  := 0;
      Output  : String (1 .. Output_Capacity);
      --  The output buffer. Output (First .. Last) contains the bytes to send.
   end record;
   --  The buffers of a task that serves connections. Output_Capacity is at least Builder.Capacity +
   --  Max_Header_Length, the maximum length of a response.

   function Has_Output (Self : Context) return Boolean is
     (Self.Last >= Self.First or else Self.Tail.Length > 0);

   function Has_Room (Self : Context) return Boolean is
     (Self.Tail.Length = 0
      and then Self.Output_Capacity - Self.Last >= Self.Builder.Capacity + Max_Header_Length);
   --  Returns True if there is room for a response of any length

   function Handler_Response
     (Handle   : Handler;
      Service  : Services.Service_Reference;
      Receiver : Services.Receiver_Reference;
      Self     : Context;
      Report   : Exception_Report) return Response;
   --  Returns the response to the context's request, from Receiver, or from Service if Receiver is
   --  null, or from Handle if both are null. Does not propagate exceptions, but passes them to
   --  Report, unless Report is null.

   function Policy_Of
     (Service : not null Services.Service_Reference; Self : Context; Report : Exception_Report)
      return Services.Content_Policy;
   --  Returns the service's policy for the content of a request. The header of the request must be
   --  complete.

   type Delivery is (Is_Wanted, Is_Enough, Has_Failed);

   procedure Deliver
     (Self     : in out Context;
      Receiver : not null Services.Receiver_Reference;
      Report   : Exception_Report;
      Result   : out Delivery);
   --  Passes the content received so far to the receiver

   procedure Close (Receiver : in out Services.Receiver_Reference)
     with Post => Services."=" (Receiver, null);
   --  Closes the receiver, unless it is null

   function Ends_With_Connection (Self : Context; Response : HTTP.Response) return Boolean;
   --  Returns True if the end of the response is marked only by closing the connection

   procedure Pass_On
     (Report       : Exception_Report;
      Error        : Ada.Exceptions.Exception_Occurrence;
      Request_Line : String := "");
   --  Calls Report, unless it is null. Does not propagate exceptions.

   procedure Put_Response
     (Self     : in out Context;
      Response : HTTP.Response;
      Date     : Dates.Date_Text;
      Closes   : Boolean)
     with Pre => Has_Room (Self);
   --  Appends the response to Output, with the header fields and the content from the builder

   procedure Put_Channel_Header
     (Self : in out Context; Response : HTTP.Response; Date : Dates.Date_Text)
     with Pre => Has_Room (Self);
   --  Appends the header of a response that opens a channel. An event stream is chunked, or in
   --  HTTP/1.0 ends with the connection.

   procedure Put_Piece (Self : in out Context; Report : Exception_Report; Is_Cut : out Boolean)
     with Pre => Self.Last < Self.First;
   --  Reads more bytes from the source of the tail and appends them. Clears the tail at the end of
   --  the source. Sets Is_Cut to True if the source failed, so the connection must be closed.

   Max_Record_Length : constant := 16_384;
   --  The maximum length of a TLS record, in bytes

   procedure Put_File_Piece (Self : in out Context; Is_Cut : out Boolean)
     with Pre => Self.Tail.File /= No_File;
   --  Reads bytes from the file of the tail once, and appends them to Output. Appends no bytes
   --  beyond a total of Max_Record_Length bytes to send. Clears the tail at the end of the section.
   --  Sets Is_Cut to True if the file ends before the end of the section.

   procedure Put_Server_Response
     (Self : in out Context; Date : Dates.Date_Text; Closes : Boolean)
     with Pre => Has_Room (Self);
   --  Appends the response to an OPTIONS * request, which asks for the server's methods

   function Refusal (Status : Status_Code; Date : Dates.Date_Text) return String;
   --  Returns the response to an invalid or rejected request

   procedure Put_Refusal
     (Self : in out Context; Status : Status_Code; Date : Dates.Date_Text)
     with Pre => Has_Room (Self);
   --  Appends the response that Refusal returns. The connection must be closed after this response.

   procedure Put_Continue (Self : in out Context)
     with Pre => Has_Room (Self);
   --  Appends 100 (Continue), so that the client sends the content

end Appserver.HTTP.Contexts;
