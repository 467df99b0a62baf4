--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Server-sent events (WHATWG HTML, 9.2), which pages receive with EventSource.
--
--     function Respond (Request : HTTP.Request) return HTTP.Response is
--        Stream : Channels.Channel;
--     begin
--        return Response : constant HTTP.Response := Channels.Events.Open (Request, Stream) do
--           Clients.Add (Stream);
--        end return;
--     end Respond;
--
--  The response has the fields Cache-Control: no-store and X-Accel-Buffering: no, so proxies
--  neither store nor delay the stream. It is not compressed. In the access log, the stream is one
--  line at its end, whose duration is the duration of the stream.

pragma Ada_2022;

package Appserver.HTTP.Channels.Events is

   pragma Assertion_Policy (Pre => Check, Pre'Class => Check);

   Event_Stream : aliased constant String := "text/event-stream";
   --  The media type of event streams

   function Open
     (Request : HTTP.Request;
      Stream  : out Channel;
      Options : Settings := Default_Settings) return Response
     with Post => not Stream.Is_Null;
   --  Opens a stream. Messages that are sent before the handler returns follow the header. If the
   --  handler returns another response, or the client requested only the header, the channel is
   --  closed. If all channels of the server are in use, the server responds with 503.
   --  @param Request the request; its builder must not have content
   --  @param Stream the channel
   --  @param Options the limits of the channel
   --  @return the response

   function Last_Event_ID (Request : HTTP.Request) return String;
   --  Returns the ID of the last event that the client received before it lost its connection.
   --  @param Request the request
   --  @return the value of Last-Event-ID; empty if there is none

   Max_Retry : constant := 86_400.0;

   subtype Retry_Time is Duration range 0.0 .. Max_Retry;

   function Is_Line (Text : String) return Boolean is
     (for all C of Text => C not in ASCII.CR | ASCII.LF | ASCII.NUL);
   --  @param Text the name or the ID of an event
   --  @return True if the text has no line ends and no NUL

   function Event
     (Data  : String;
      Name  : String := "";
      ID    : String := "";
      Retry : Retry_Time := 0.0) return Message
     with Pre  => (Is_Line (Name) and then Is_Line (ID))
                  or else raise Misuse_Error with "the name or the ID has a line end or NUL",
          Post => not Is_Null (Event'Result);
   --  Encodes an event.
   --  @param Data the data in UTF-8. CR LF, CR and LF end lines; the client receives LF.
   --  @param Name the type of the event; empty for "message"
   --  @param ID the ID, which the client sends when it connects again; empty for no change
   --  @param Retry the time in seconds after which the client connects again; 0.0 for no change
   --  @return the encoded event

   function Comment (Text : String := "") return Message
     with Post => not Is_Null (Comment'Result);
   --  Encodes a comment, which clients ignore.
   --  @param Text the text
   --  @return the encoded comment

   procedure Send
     (Stream : Channel;
      Data   : String;
      Result : out Send_Result;
      Name   : String := "";
      ID     : String := "")
     with Pre => (not Stream.Is_Null and then Is_Line (Name) and then Is_Line (ID))
                 or else raise Misuse_Error with
                   "the channel is null, or the name or the ID has a line end or NUL";
   --  Sends an event to one client.
   --  @param Stream the channel
   --  @param Data the data, as in Event
   --  @param Result set to Queued, Full or Closed
   --  @param Name the type of the event
   --  @param ID the ID
   --  @exception Storage_Error there is not enough memory

   procedure Close (Stream : Channel)
     with Pre => not Stream.Is_Null or else raise Misuse_Error with "the channel is null";
   --  Ends the stream once the queued messages have been sent. The client connects again, and stops
   --  doing so only if the response to its new request is 204.
   --  @param Stream the channel

end Appserver.HTTP.Channels.Events;
