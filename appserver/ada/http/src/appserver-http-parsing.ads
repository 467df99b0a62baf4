--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Parses requests incrementally, from pieces of any size. To prevent request smuggling, the parser
--  rejects requests that different servers could interpret differently, even if RFC 9112 allows a
--  server to accept them.
--
--  The parser processes whole lines, and stops at a line that is too long. So the outcome does not
--  depend on how the bytes are split into pieces.

pragma Ada_2022;

package Appserver.HTTP.Parsing is

   pragma Assertion_Policy (Pre => Check, Pre'Class => Check);

   type Limits is record
      Request_Line : Positive := 8_192;
      --  The maximum length of the request line in bytes, including CR LF. A longer line is
      --  rejected with 414. RFC 9112, section 3, recommends supporting at least 8,000 bytes.
      Header       : Positive := 16_384;
      --  The maximum length of the header in bytes, including the request line. A longer header, or
      --  a header with more than 100 lines, is rejected with 431.
      Content      : Natural  := 65_536;
      --  The maximum length of the content in bytes. Longer content is rejected with 413.
   end record;

   Slack : constant := 8_192;
   --  The number of bytes by which the capacity of a request buffer exceeds the limits on header
   --  and content. The additional bytes are for chunk sizes that have not been removed yet, and for
   --  the beginning of the next requests.

   procedure Clear (Self : in out Request);
   --  Removes all bytes

   procedure Add (Self : in out Request; Bytes : String)
     with Pre => Bytes'Length <= Available (Self)
                 or else raise Misuse_Error with "there is no room for the bytes";
   --  Adds received bytes

   function Available (Self : Request) return Natural;
   --  Returns the number of bytes that can be added

   procedure Make_Room (Self : in out Request);
   --  Moves the bytes to the beginning, so that the free space follows them contiguously

   type Outcome is (Incomplete, Has_Header, Complete, Refused);

   procedure Parse
     (Self   : in out Request;
      Limits : Parsing.Limits;
      Result : out Outcome;
      Status : out Status_Code;
      Asks   : Boolean := False)
     with Pre => (Limits.Request_Line <= Limits.Header
                    and then Self.Capacity - Slack >= Limits.Header
                    and then Self.Capacity - Slack - Limits.Header >= Limits.Content)
                 or else raise Misuse_Error with "the request has no room for these limits";
   --  Parses the added bytes. A Complete request can be passed to a handler. After Refused, Status
   --  is the status code for the response, the remaining bytes must be ignored, and the connection
   --  must be closed. If Asks is True, the result is Has_Header once for each request with content,
   --  and the caller must then call Note_Buffered or Begin_Stream.

   function Wants_Continue (Self : Request) return Boolean;
   --  Returns True if the request is Incomplete and the client waits for 100 (Continue) before it
   --  sends the content

   procedure Note_Continue (Self : in out Request);
   --  Records that the server has sent 100 (Continue)

   ----------------------
   -- Streamed content --
   ----------------------

   procedure Note_Buffered (Self : in out Request; Max : Byte_Count);
   --  Selects buffering of the whole content; called after Parse has returned Has_Header. The
   --  maximum length of the content is Max bytes or the limit in Limits, whichever is less.

   function Announced (Self : Request) return Byte_Count;
   --  Returns the length of the content according to the header; 0 for chunked content. Called
   --  after Parse has returned Has_Header.

   function Header (Self : Request) return String;

   procedure Begin_Stream (Self : in out Request; Max : Byte_Count);
   --  Removes the header to stream the content; called after Parse has returned Has_Header. The
   --  caller must then remove the content as it arrives. The maximum length of the content is Max
   --  bytes.

   procedure Parse_Stream (Self : in out Request; Result : out Outcome; Status : out Status_Code);
   --  Finds the content that has arrived. After Begin_Stream, this procedure must be called instead
   --  of Parse.

   function Streamed_Last (Self : Request) return Natural;
   function Streamed (Self : Request) return String;
   --  Streamed_Last returns the index of the last byte of the streamed content. Streamed returns
   --  the content, which is Self.Bytes (1 .. Streamed_Last).

   procedure Drop_Streamed (Self : in out Request);
   --  Removes the streamed content

   procedure End_Stream (Self : in out Request; Header_Length : Natural)
     with Pre => Header_Length <= Available (Self)
                 or else raise Misuse_Error with "there is no room for the header";
   --  Ends a stream whose request is complete. Before the next call to Parse, the caller must copy
   --  the header to Self.Bytes (1 .. Header_Length).

   procedure End_Stream (Self : in out Request; Header : String)
     with Pre => Header'Length <= Available (Self)
                 or else raise Misuse_Error with "there is no room for the header";
   --  Ends a stream, and restores the header of the request from Header

   procedure Next (Self : in out Request);
   --  Removes a complete request. The bytes after it are the beginning of the next request.

   function Is_Empty (Self : Request) return Boolean;
   --  Returns True if no byte of a request has arrived

   function Is_Last (Self : Request) return Boolean;
   --  Returns True if the connection must be closed after the response

   function Is_Old (Self : Request) return Boolean;
   --  Returns True if the client uses HTTP/1.0, so the response must state explicitly that the
   --  connection stays open

   function Is_Authority (Text : String) return Boolean;
   --  Returns True if Text is empty or is a host, with or without a port (RFC 3986, 3.2)

   function Is_For_Server (Self : Request) return Boolean;
   --  Returns True if the request applies to the server as a whole (OPTIONS *)

private

   function Announced (Self : Request) return Byte_Count is (Self.State.Remaining);
   function Streamed_Last (Self : Request) return Natural is (Self.State.Content_Last);
   function Streamed (Self : Request) return String is
     (Self.Bytes (1 .. Self.State.Content_Last));
   function Header (Self : Request) return String is
     (Self.Bytes (Self.First .. Self.State.Header_Last));
   function Available (Self : Request) return Natural is
     (Self.Capacity - Self.Last + (Self.First - 1));
   function Is_Empty (Self : Request) return Boolean is (Self.Last < Self.First);
   function Is_Last (Self : Request) return Boolean is (Self.Is_Last);
   function Is_Old (Self : Request) return Boolean is (Self.Minor_Version = 0);
   function Is_For_Server (Self : Request) return Boolean is
     (Self.Kind = Options and then Self.Path_Is ("*"));
   function Wants_Continue (Self : Request) return Boolean is
     (Self.Expects
      and then not Self.State.Continued
      and then Self.State.Step in In_Content | In_Chunk_Size
      and then Self.Last = Self.State.Header_Last);

end Appserver.HTTP.Parsing;
