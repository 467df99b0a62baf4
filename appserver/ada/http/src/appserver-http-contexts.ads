--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  What a task needs to answer requests, of which it has one for all its connections: the bytes
--  of a request, a draft, and the answers that are to be sent.

pragma Ada_2022;

with Appserver.HTTP.Dates;
with Appserver.HTTP.Services;

private package Appserver.HTTP.Contexts is

   pragma Assertion_Policy (Pre => Check, Pre'Class => Check);

   --  What is sent behind the bytes of an answer: a part of a file, or text that is as old as the
   --  program, from where it is; or what a source gives

   type Framing is (Counted, Chunked, To_The_End);

   type Tail is record
      File    : Descriptor       := No_File;
      Text    : Constant_Text    := null;
      Source  : Source_Reference := null;
      Framing : Contexts.Framing := Counted;
      --  Of what the source gives
      Offset  : Byte_Count       := 0;
      Length  : Byte_Count       := 0;
      --  Of what is still to be sent; Byte_Count'Last if that is not known
   end record;

   No_Tail : constant Tail := (others => <>);

   procedure Drop (Self : in out Tail);
   --  Closes the file or the source; there is nothing to be sent any more

   Longest_Header : constant := Fields_Capacity + 512;
   --  Of an answer

   type Context
     (Request_Capacity, Output_Capacity : Positive;
      Draft : not null access Answer_Draft;
      Owner : Natural)
   is limited record
      Request : HTTP.Request (Request_Capacity, Draft);
      Tail    : Contexts.Tail;
      Status  : Status_Code := OK;
      Length  : Byte_Count := 0;
      --  Of the content, both of the answer that was put last
      First   : Positive := 1;
      Last    : Natural  := 0;
      Output  : String (1 .. Output_Capacity);
      --  What is to be sent is in First .. Last
   end record;
   --  Output_Capacity is at least Draft.Capacity + Longest_Header: there is room for any answer

   function Has_Output (Self : Context) return Boolean is
     (Self.Last >= Self.First or else Self.Tail.Length > 0);

   function Has_Room (Self : Context) return Boolean is
     (Self.Tail.Length = 0
      and then Self.Output_Capacity - Self.Last >= Self.Draft.Capacity + Longest_Header);
   --  For any answer

   function Called
     (Handle   : Handler;
      Service  : Services.Service_Reference;
      Receiver : Services.Receiver_Reference;
      Self     : Context;
      Report   : Exception_Report) return Response;
   --  The response of the receiver, or of the service if there is no receiver, or of the function
   --  if there is no service, to the context's request. What it raises goes to Report, if that is
   --  not null, and no further.

   function Planned
     (Service : not null Services.Service_Reference; Self : Context; Report : Exception_Report)
      return Services.Content_Plan;
   --  What becomes of the content of the request whose header is there

   type Delivery is (Is_Wanted, Is_Enough, Has_Failed);

   procedure Deliver
     (Self     : in out Context;
      Receiver : not null Services.Receiver_Reference;
      Report   : Exception_Report;
      Result   : out Delivery);
   --  Gives the receiver the content that has come, and takes it out of the context

   procedure Close (Receiver : in out Services.Receiver_Reference)
     with Post => Services."=" (Receiver, null);
   --  If it is not null

   function Ends_With_Connection (Self : Context; Answer : Response) return Boolean;
   --  Whether only the end of the connection tells the end of the answer

   procedure Pass_On
     (Report       : Exception_Report;
      Error        : Ada.Exceptions.Exception_Occurrence;
      Request_Line : String := "");
   --  To Report, if that is not null. Raises no exception.

   procedure Put_Answer
     (Self   : in out Context;
      Answer : Response;
      Date   : Dates.Date_Text;
      Closes : Boolean)
     with Pre => Has_Room (Self);
   --  Adds the answer to the context's request, as what the handler left in the draft has it

   procedure Put_Piece (Self : in out Context; Report : Exception_Report; Is_Cut : out Boolean)
     with Pre => Self.Last < Self.First;
   --  Asks the source of the tail for more, and adds what it gives; there is no tail when all is
   --  added. Is_Cut: the source failed, and the connection is to be closed.

   procedure Put_Server_Answer
     (Self : in out Context; Date : Dates.Date_Text; Closes : Boolean)
     with Pre => Has_Room (Self);
   --  To OPTIONS *

   procedure Put_Refusal
     (Self : in out Context; Status : Status_Code; Date : Dates.Date_Text)
     with Pre => Has_Room (Self);
   --  To what is no request, or not one that is taken. The connection is to be closed then.

   procedure Put_Continue (Self : in out Context)
     with Pre => Has_Room (Self);
   --  100: go on with the content

end Appserver.HTTP.Contexts;
