--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  The parser of requests: takes bytes, in pieces of any size, and makes a request of them. It is
--  strict where servers could disagree about a request (request smuggling): it refuses what RFC
--  9112 allows a server to tolerate.
--
--  It decides line by line, when a line has ended or is too long, so that the outcome does not
--  depend on how the bytes arrived.

pragma Ada_2022;

package Appserver.HTTP.Parsing is

   pragma Assertion_Policy (Pre => Check, Pre'Class => Check);

   type Limits is record
      Request_Line : Positive := 8_192;
      --  Bytes with its CR LF; a longer one is refused with 414. RFC 9112, 3 asks for 8,000.
      Header       : Positive := 16_384;
      --  Bytes with the request line; a longer one is refused with 431, as are more than 100 lines
      Content      : Natural  := 65_536;
      --  Bytes; more is refused with 413
   end record;

   Slack : constant := 8_192;
   --  Bytes of a request's capacity above its limits: for sizes of chunks that are not yet removed,
   --  and for the beginnings of further requests

   procedure Clear (Self : in out Request);
   --  No bytes

   procedure Add (Self : in out Request; Bytes : String)
     with Pre => Bytes'Length <= Available (Self)
                 or else raise Misuse_Error with "there is no room for the bytes";
   --  Adds bytes that have arrived

   function Available (Self : Request) return Natural;
   --  Bytes that can be added

   procedure Make_Room (Self : in out Request);
   --  Moves the bytes to the front, so that what can be added follows them as one piece

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
   --  Looks at what was added. A complete request can be handed to a handler. After Refused, Status
   --  says why, and the bytes behind it have no meaning: the connection is to be closed. With Asks,
   --  Has_Header is the result once of a request that has content: what becomes of it is then to be
   --  noted.

   function Wants_Continue (Self : Request) return Boolean;
   --  True if the client waits for 100 (Continue) before it sends the content of a request that is
   --  Incomplete

   procedure Note_Continue (Self : in out Request);
   --  The client was told to go on

   ------------------------
   -- Content by streams --
   ------------------------

   procedure Note_Buffered (Self : in out Request; Max : Byte_Count);
   --  After Has_Header: buffers the whole content, of at most this many bytes and no more than
   --  Limits allow

   function Announced (Self : Request) return Byte_Count;
   --  After Has_Header: the length of the content; 0 if it comes in chunks

   function Header (Self : Request) return String;

   procedure Begin_Stream (Self : in out Request; Max : Byte_Count);
   --  After Has_Header: takes the header out. Content of at most Max bytes is to be taken out as
   --  it comes.

   procedure Parse_Stream (Self : in out Request; Result : out Outcome; Status : out Status_Code);
   --  After Begin_Stream, in place of Parse: finds the content that has come

   function Streamed_Last (Self : Request) return Natural;
   function Streamed (Self : Request) return String;
   --  That content is Self.Bytes (1 .. Streamed_Last)

   procedure Drop_Streamed (Self : in out Request);
   --  Takes that content out

   procedure End_Stream (Self : in out Request; Header_Length : Natural)
     with Pre => Header_Length <= Available (Self)
                 or else raise Misuse_Error with "there is no room for the header";
   --  The request is complete. Self.Bytes (1 .. Header_Length) is to be given the header's bytes
   --  before it is parsed again.

   procedure End_Stream (Self : in out Request; Header : String)
     with Pre => Header'Length <= Available (Self)
                 or else raise Misuse_Error with "there is no room for the header";
   --  The same with these bytes

   procedure Next (Self : in out Request);
   --  Removes the request that was complete; the bytes after it are the beginning of another one

   function Is_Empty (Self : Request) return Boolean;
   --  True if no byte of a request has arrived

   function Is_Last (Self : Request) return Boolean;
   --  True if the connection is to be closed after the response

   function Is_Old (Self : Request) return Boolean;
   --  True if the client uses HTTP/1.0: the response has to say that the connection is kept

   function Is_Authority (Text : String) return Boolean;
   --  True if Text is empty or a host, with or without a port (RFC 3986, 3.2)

   function Is_For_Server (Self : Request) return Boolean;
   --  True if the request is for the server and not for a resource: OPTIONS *

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
