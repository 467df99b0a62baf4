--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  HTTP/1.1 for handlers: a complete request, a response builder that collects content and header
--  fields, and the response, which specifies the status and the kind of content to send.
--
--     function Hello (Request : HTTP.Request) return HTTP.Response is
--     begin
--        Request.Builder.Append ("Hello ");
--        Request.Builder.Append (Request.Parameter ("name"));
--        return HTTP.Text_Response (HTTP.Plain_Text'Access);
--     end Hello;
--
--  A request and its builder belong to a task of the server. A handler may use them until it
--  returns. Nothing in this package allocates heap memory. Terms and section numbers refer to RFC
--  9110 (semantics) and RFC 9112 (HTTP/1.1).

pragma Ada_2022;

with Ada.Exceptions;
with Appserver.IP_Addresses;
with Appserver.Text_Sinks;

limited with Appserver.HTTP.Transports;

package Appserver.HTTP is

   --  Preconditions are checked in every build, since the exceptions that they raise are part of
   --  the contract
   pragma Assertion_Policy (Pre => Check, Pre'Class => Check);

   ---------------
   -- Constants --
   ---------------

   type Method_Kind is (Get, Head, Post, Put, Delete, Patch, Options);
   --  The supported methods. The server responds with 501 to any other method.

   type Status_Number is range 100 .. 599;

   subtype Status_Code is Status_Number range 200 .. 599;
   --  The status codes that a handler can choose

   Switching_Protocols    : constant Status_Number := 101;
   --  The status of the response to a WebSocket handshake

   OK                     : constant Status_Code := 200;
   Created                : constant Status_Code := 201;
   Accepted               : constant Status_Code := 202;
   No_Content             : constant Status_Code := 204;
   Partial_Content        : constant Status_Code := 206;
   Moved_Permanently      : constant Status_Code := 301;
   Found                  : constant Status_Code := 302;
   See_Other              : constant Status_Code := 303;
   Not_Modified           : constant Status_Code := 304;
   Temporary_Redirect     : constant Status_Code := 307;
   Permanent_Redirect     : constant Status_Code := 308;
   Bad_Request            : constant Status_Code := 400;
   Unauthorized           : constant Status_Code := 401;
   Forbidden              : constant Status_Code := 403;
   Not_Found              : constant Status_Code := 404;
   Method_Not_Allowed     : constant Status_Code := 405;
   Not_Acceptable         : constant Status_Code := 406;
   Request_Timeout        : constant Status_Code := 408;
   Conflict               : constant Status_Code := 409;
   Gone                   : constant Status_Code := 410;
   Length_Required        : constant Status_Code := 411;
   Precondition_Failed    : constant Status_Code := 412;
   Content_Too_Large      : constant Status_Code := 413;
   URI_Too_Long           : constant Status_Code := 414;
   Unsupported_Media_Type : constant Status_Code := 415;
   Range_Not_Satisfiable  : constant Status_Code := 416;
   Expectation_Failed     : constant Status_Code := 417;
   Misdirected_Request    : constant Status_Code := 421;
   Unprocessable_Content  : constant Status_Code := 422;
   Upgrade_Required       : constant Status_Code := 426;
   Too_Many_Requests      : constant Status_Code := 429;
   Fields_Too_Large       : constant Status_Code := 431;
   Internal_Error         : constant Status_Code := 500;
   Not_Implemented        : constant Status_Code := 501;
   Service_Unavailable    : constant Status_Code := 503;
   Version_Not_Supported  : constant Status_Code := 505;

   function Reason (Status : Status_Code) return String;
   --  Returns the reason phrase of the status line.
   --  @param Status the status code
   --  @return the phrase, such as "Not Found"

   type Constant_Text is access constant String;
   --  Text that exists for the lifetime of the program. The server sends it without copying it.

   Plain_Text   : aliased constant String := "text/plain; charset=utf-8";
   JSON_Text    : aliased constant String := "application/json";
   XML_Text     : aliased constant String := "application/xml";
   Octet_Stream : aliased constant String := "application/octet-stream";
   --  Common media types

   subtype Byte_Count is Long_Long_Integer range 0 .. Long_Long_Integer'Last;

   subtype Token_Character is Character with
     Static_Predicate => Token_Character in 'A' .. 'Z' | 'a' .. 'z' | '0' .. '9' | '!' | '#' | '$'
       | '%' | '&' | ''' | '*' | '+' | '-' | '.' | '^' | '_' | '`' | '|' | '~';

   function Is_Token (Text : String) return Boolean is
     (Text'Length > 0 and then (for all C of Text => C in Token_Character));
   --  Checks the name of a field (RFC 9110, 5.6.2).
   --  @param Text the name
   --  @return True if the name is valid

   function Is_Field_Value (Text : String) return Boolean is
     (for all C of Text => C not in ASCII.NUL .. ASCII.BS | ASCII.LF .. ASCII.US | ASCII.DEL);
   --  Checks the value of a field, which must not contain control characters (RFC 9110, 5.5).
   --  @param Text the value
   --  @return True if the value is valid

   ----------------------
   -- Streamed content --
   ----------------------

   Min_Rate : constant := 500;
   --  The minimum transfer rate in bytes per second, measured over a window that Time_Limits sets.
   --  If a client sends content or reads a response more slowly, the server closes the connection.

   Crowded_Rate : constant := 4_000;
   --  The minimum transfer rate in bytes per second when the server has no room for a new client.
   --  The server may then close the connection of a slower client. The rate is measured since the
   --  server began to wait for the client, or over the last ten seconds. Since clients send and
   --  receive in bursts, a client that has been fast enough so far may be half a second late.

   type Content_Source is limited interface;
   --  Produces the content of a response while the server sends it. The content can have any
   --  length, in constant memory. The server calls a source from one task at a time, but not always
   --  the same task.

   procedure Read
     (Self : in out Content_Source; Into : out String; Count : out Natural) is abstract;
   --  Produces the next bytes. The server calls this procedure when it can send more to the client.
   --  The procedure may block, like a handler. If it raises an exception, the server reports the
   --  exception and ends the content early.
   --  @param Self the source
   --  @param Into receives the bytes. It has room for at least 1,024 bytes, or for the remaining
   --  bytes if the length is known.
   --  @param Count the number of bytes, from the beginning of Into; 0 at the end of the content

   procedure Close (Self : not null access Content_Source) is null;
   --  Releases the source. This is always the last call, and the server no longer refers to the
   --  source, so Close may free it. Close must not block. Exceptions are ignored.
   --  @param Self the source

   type Source_Reference is access all Content_Source'Class;

   -------------
   -- Builder --
   -------------

   type Descriptor is range -1 .. 2 ** 31 - 1;
   --  A file descriptor of the operating system

   No_File : constant Descriptor := -1;

   Response_Too_Large : exception;
   --  The content or the header fields exceed the capacity of the builder. If the handler does not
   --  handle this exception, the server responds with 500.

   type Response_Builder (Capacity : Positive) is limited new Text_Sinks.Text_Sink with private;
   --  Collects the content, of at most Capacity bytes, and the header fields of a response

   overriding procedure Append (Self : in out Response_Builder; Text : String) with Inline;
   --  Appends text to the content.
   --  @param Self the builder
   --  @param Text the text
   --  @exception Response_Too_Large the text does not fit

   procedure Append (Self : in out Response_Builder; Byte : Character) with Inline;
   --  Appends one byte to the content.
   --  @param Self the builder
   --  @param Byte the byte
   --  @exception Response_Too_Large the byte does not fit

   procedure Append (Self : in out Response_Builder; Number : Long_Long_Integer);
   --  Appends a number in decimal, without a leading space.
   --  @param Self the builder
   --  @param Number the number
   --  @exception Response_Too_Large the digits do not fit

   function Length (Self : Response_Builder) return Natural;
   --  Returns the length of the content so far.
   --  @param Self the builder
   --  @return the number of bytes

   function Content (Self : Response_Builder) return String;
   --  Returns a copy of the content so far.
   --  @param Self the builder
   --  @return the content

   procedure Truncate (Self : in out Response_Builder; Length : Natural := 0)
     with Pre => Length <= Self.Length
                 or else raise Misuse_Error with "the content is shorter than Length";
   --  Removes the end of the content, so that Length bytes remain.
   --  @param Self the builder
   --  @param Length the number of bytes to keep

   procedure Add_Field (Self : in out Response_Builder; Name, Value : String)
     with Pre => (Is_Token (Name) and then Is_Field_Value (Value)
                    and then not Is_Reserved (Name))
                 or else raise Misuse_Error with "the field is invalid or reserved";
   --  Adds a field to the header of the response.
   --  @param Self the builder
   --  @param Name the name of the field
   --  @param Value the value of the field
   --  @exception Response_Too_Large the field does not fit

   function Is_Reserved (Name : String) return Boolean;
   --  Checks whether a field is reserved for the server. The server sets Date, Content-Length,
   --  Transfer-Encoding, Trailer, Connection, Keep-Alive and Upgrade, and sets Content-Type from
   --  the response.
   --  @param Name the name of a field, in upper or lower case
   --  @return True if the field is reserved

   procedure Attach
     (Self   : in out Response_Builder;
      File   : Descriptor;
      Offset : Byte_Count;
      Length : Byte_Count)
     with Pre => (File /= No_File and then not Self.Has_File and then not Self.Has_Source)
                 or else raise Misuse_Error with
                   "the file is invalid, or a file or a source is already attached";
   --  Attaches a section of an open regular file. HTTP.File_Response creates a response that sends
   --  this section without copying it. The builder then owns the file, and closes it when the
   --  response has been sent or discarded.
   --  @param Self the builder
   --  @param File the open file
   --  @param Offset the offset of the first byte in the file
   --  @param Length the number of bytes

   function Has_File (Self : Response_Builder) return Boolean;
   --  @param Self the builder
   --  @return True if a file is attached

   procedure Drop_File (Self : in out Response_Builder)
     with Post => not Self.Has_File;
   --  Closes and detaches the file.
   --  @param Self the builder

   procedure Attach (Self : in out Response_Builder; Source : not null Source_Reference)
     with Pre => (not Self.Has_File and then not Self.Has_Source)
                 or else raise Misuse_Error with "a file or a source is already attached";
   --  Attaches a source. HTTP.Stream_Response creates a response that sends the bytes of the source
   --  with chunked transfer encoding. For HTTP/1.0 clients, closing the connection marks the end of
   --  the content. The builder then owns the source, and closes it when the response has been sent
   --  or discarded.
   --  @param Self the builder
   --  @param Source the source of the content

   procedure Attach
     (Self : in out Response_Builder; Source : not null Source_Reference; Length : Byte_Count)
     with Pre => (not Self.Has_File and then not Self.Has_Source)
                 or else raise Misuse_Error with "a file or a source is already attached";
   --  Attaches a source of known length. The response has a Content-Length. If the source ends
   --  early, the server closes the connection before the end of the content.
   --  @param Self the builder
   --  @param Source the source of the content
   --  @param Length the number of bytes that the source will produce

   function Has_Source (Self : Response_Builder) return Boolean;
   --  @param Self the builder
   --  @return True if a source is attached

   procedure Drop_Source (Self : in out Response_Builder)
     with Post => not Self.Has_Source;
   --  Closes and detaches the source.
   --  @param Self the builder

   procedure Clear (Self : in out Response_Builder);
   --  Removes the content, the fields, the file, the source and the channel. The builder is then in
   --  the same state as before the handler was called.
   --  @param Self the builder

   -------------
   -- Request --
   -------------

   type Request
     (Capacity : Positive; Builder : not null access Response_Builder) is tagged limited private;
   --  A complete request. Capacity is the maximum size of header and content together, in bytes.
   --  Handlers write the content and the header fields of the response to Builder.

   function Method (Self : Request) return Method_Kind
     with Post => Method'Result /= Head;
   --  Returns the method. The result is Get for a HEAD request: the server calls the handler as for
   --  GET, and omits the content from the response.
   --  @param Self the request
   --  @return the method

   function Is_Head (Self : Request) return Boolean;
   --  Returns True for a HEAD request. A handler can save work if the server omits the content.
   --  @param Self the request
   --  @return True if the server omits the content

   function Path (Self : Request) return String;
   --  Returns the path as the client sent it, starting with "/". The path is percent-encoded, but
   --  characters that never need encoding are decoded (RFC 3986, 6.2.2.2). It may contain "." and
   --  "..", but never malformed percent-encoding.
   --  @param Self the request
   --  @return the encoded path

   function Path_Is (Self : Request; Path : String) return Boolean with Inline;
   --  Compares the encoded path byte for byte.
   --  @param Self the request
   --  @param Path the expected path
   --  @return True if they are equal

   function Path_Starts_With (Self : Request; Prefix : String) return Boolean with Inline;
   --  Compares the beginning of the encoded path byte for byte.
   --  @param Self the request
   --  @param Prefix the expected prefix
   --  @return True if the path starts with Prefix

   function Query (Self : Request) return String;
   --  Returns the query as the client sent it: any bytes except "#", spaces and control characters.
   --  @param Self the request
   --  @return the text after "?"; empty if there is none

   function Has_Parameter (Self : Request; Name : String) return Boolean;
   --  Looks for a parameter in the query, with a value (Name=…) or without a value (Name).
   --  @param Self the request
   --  @param Name the name of the parameter
   --  @return True if the query has the parameter

   function Parameter (Self : Request; Name : String; Default : String := "") return String;
   --  Returns the decoded value of a query parameter. "+" is decoded as a space.
   --  @param Self the request
   --  @param Name the name of the parameter
   --  @param Default the result if there is no such parameter
   --  @return the value of the first parameter with that name

   function Line (Self : Request) return String;
   --  Returns the request line.
   --  @param Self the request
   --  @return method, path, query and version, such as "GET /hello?name=Ada HTTP/1.1"

   function Host (Self : Request) return String;
   --  Returns the host that the client requested (RFC 9112, 3.2.2).
   --  @param Self the request
   --  @return the host of an absolute target; otherwise the value of the field Host

   function Client_Address (Self : Request) return IP_Addresses.Address with Inline;
   --  Returns the address of the peer, which may be a proxy. If the peer is a proxy,
   --  Appserver.HTTP.Proxies finds the address of the client.
   --  @param Self the request
   --  @return the address of the peer; IP_Addresses.No_Address if the peer is connected to a Unix
   --  socket

   function Is_Secure (Self : Request) return Boolean with Inline;
   --  Returns True if the connection is encrypted, so a redirect can keep the scheme "https". If
   --  the peer is a proxy, Appserver.HTTP.Proxies finds the scheme that the client used.
   --  @param Self the request
   --  @return True if the listener has a transport, such as Appserver.HTTP.TLS

   function Has_Field (Self : Request; Name : String) return Boolean;
   --  Looks for a field in the header.
   --  @param Self the request
   --  @param Name the name of the field, in upper or lower case
   --  @return True if the header has the field

   function Field (Self : Request; Name : String; Default : String := "") return String;
   --  Returns the value of a field. The values of repeated fields are joined with ", " (RFC 9110,
   --  5.3).
   --  @param Self the request
   --  @param Name the name of the field, in upper or lower case
   --  @param Default the result if there is no such field
   --  @return the value

   function Field_Count (Self : Request) return Natural;
   --  @param Self the request
   --  @return the number of field lines in the header

   function Field_Name (Self : Request; Index : Positive) return String
     with Pre => Index <= Self.Field_Count or else raise Misuse_Error with "there is no such field";
   --  @param Self the request
   --  @param Index the number of the field line, from 1
   --  @return the name of the field in that line

   function Field_Value (Self : Request; Index : Positive) return String
     with Pre => Index <= Self.Field_Count or else raise Misuse_Error with "there is no such field";
   --  @param Self the request
   --  @param Index the number of the field line, from 1
   --  @return the value of the field in that line

   function Content_Length (Self : Request) return Natural;
   --  Returns the length of the content, without chunk framing.
   --  @param Self the request
   --  @return the number of bytes; 0 if the content was passed to a receiver

   function Content (Self : Request) return String;
   --  Returns a copy of the content.
   --  @param Self the request
   --  @return the content

   procedure Read_Content
     (Self : Request; Read : not null access procedure (Content : String));
   --  Passes the content to a procedure without copying it.
   --  @param Self the request
   --  @param Read receives the content. Its first index is not necessarily 1.

   procedure Read_Path
     (Self : Request; Read : not null access procedure (Path : String));
   --  Passes the encoded path to a procedure without copying it.
   --  @param Self the request
   --  @param Read receives the path. Its first index is not necessarily 1.

   function Is_Encoded (Text : String) return Boolean;
   --  Checks whether percent-encoding is well-formed.
   --  @param Text the encoded text
   --  @return True if every "%" is followed by two hexadecimal digits

   function Decoded (Text : String; Plus_Is_Space : Boolean := False) return String;
   --  Decodes percent-encoding. A "%" that is not followed by two hexadecimal digits is not changed
   --  (WHATWG URL, 1.3).
   --  @param Text the encoded text
   --  @param Plus_Is_Space True to decode "+" as a space
   --  @return the decoded bytes, which may include zero bytes and "/"

   --------------
   -- Response --
   --------------

   type Response is private;
   --  The status code of a response and the kind of content to send. The server also sends the
   --  header fields in the request's builder.

   function Is_Media_Type (Text : String) return Boolean is
     (Text'Length in 1 .. 128 and then Is_Field_Value (Text));
   --  Checks the length and the characters of a media type.
   --  @param Text the media type
   --  @return True if it can be sent

   function Status_Only (Status : Status_Code) return Response;
   --  Creates a response without content.
   --  @param Status the status code, such as 204, 304 or 404
   --  @return the response

   function Static_Response
     (Media_Type : not null Constant_Text;
      Content    : not null Constant_Text;
      Status     : Status_Code := OK) return Response
     with Pre => Is_Media_Type (Media_Type.all)
                 or else raise Misuse_Error with "the media type is invalid";
   --  Creates a response with constant content, which the server sends without copying it.
   --  @param Media_Type the value of Content-Type
   --  @param Content the content
   --  @param Status the status code
   --  @return the response

   function Text_Response
     (Media_Type : not null Constant_Text; Status : Status_Code := OK) return Response
     with Pre => Is_Media_Type (Media_Type.all)
                 or else raise Misuse_Error with "the media type is invalid";
   --  Creates a response with the content of the builder.
   --  @param Media_Type the value of Content-Type
   --  @param Status the status code
   --  @return the response

   function File_Response
     (Media_Type : not null Constant_Text; Status : Status_Code := OK) return Response
     with Pre => Is_Media_Type (Media_Type.all)
                 or else raise Misuse_Error with "the media type is invalid";
   --  Creates a response with the section of a file that is attached to the builder.
   --  @param Media_Type the value of Content-Type
   --  @param Status the status code
   --  @return the response

   function Stream_Response
     (Media_Type : not null Constant_Text; Status : Status_Code := OK) return Response
     with Pre => Is_Media_Type (Media_Type.all)
                 or else raise Misuse_Error with "the media type is invalid";
   --  Creates a response with the bytes of the source that is attached to the builder.
   --  @param Media_Type the value of Content-Type
   --  @param Status the status code
   --  @return the response

   function Not_Allowed (Request : HTTP.Request; Allow : String) return Response
     with Pre => Is_Field_Value (Allow)
                 or else raise Misuse_Error with "the value of the field is invalid";
   --  Creates the response to a method that the target does not support.
   --  @param Request the request
   --  @param Allow the supported methods, such as "GET, HEAD"
   --  @return a response with the field Allow and the status 204 for OPTIONS, 405 for other methods

   function Status (Self : Response) return Status_Number;
   --  @param Self the response
   --  @return the status code; 101 for a WebSocket handshake, otherwise a Status_Code

   function Media_Type (Self : Response) return Constant_Text;
   --  @param Self the response
   --  @return the media type; null if there is no content

   -------------
   -- Servers --
   -------------

   type Port_Number is range 0 .. 65_535;

   Network_Error : exception;
   --  The server cannot listen. The message of the exception contains the system's reason.

   type Time_Limits is record
      Idle    : Duration := 75.0;
      --  The time that the server waits for the next request on an open connection
      Header  : Duration := 20.0;
      --  The time from the first byte of a request to the end of its header. On timeout, the
      --  response is 408.
      Content : Duration := 60.0;
      --  The time from the end of the header to the end of the content. On timeout, the response is
      --  408. For every Min_Rate bytes that arrive, the deadline moves by one second, but never
      --  beyond this duration from the current time.
      Sending : Duration := 30.0;
      --  The time for sending a response that the client does not read immediately. For every
      --  Min_Rate bytes that the client reads, the deadline moves by one second, but never beyond
      --  this duration from the current time.
      Closing : Duration := 0.5;
      --  The grace period for requests in flight when a server stops
   end record;
   --  The times in seconds that a server waits for a client before it closes the connection. Time
   --  during which the program was suspended does not count.

   type Handler is not null access function (Request : HTTP.Request) return Response;
   --  Handles a request. If the handler raises an exception, the server responds with 500. The
   --  server profile calls a handler from multiple tasks concurrently.

   ----------------
   -- Exceptions --
   ----------------

   type Exception_Report is access procedure
     (Error : Ada.Exceptions.Exception_Occurrence; Request_Line : String);
   --  Receives each exception that a handler does not handle, together with the request line.
   --  Request_Line is empty for an exception of the server itself. The task that raised the
   --  exception calls this procedure, so calls may be concurrent. Exceptions that the procedure
   --  raises are ignored.

   procedure Report_On_Standard_Error
     (Error : Ada.Exceptions.Exception_Occurrence; Request_Line : String);
   --  Writes one line to standard error, such as "GET /hello HTTP/1.1: CONSTRAINT_ERROR: message".
   --  @param Error the exception
   --  @param Request_Line the request line; empty for an exception of the server itself

private

   function Same (Left, Right : String) return Boolean;
   --  Returns True if the texts are equal, ignoring case

   procedure Take_Decoded
     (Text : String; Next : in out Positive; Byte : out Character; Plus_Is_Space : Boolean)
     with Pre => Next <= Text'Last;
   --  Decodes the byte at Next, and moves Next to the position after the encoded byte

   procedure Decode
     (Text : String; Plus_Is_Space : Boolean; Result : out String; Last : out Natural)
     with Pre => Result'First = 1 and then Result'Length >= Text'Length;
   --  Sets Result (1 .. Last) to Decoded (Text, Plus_Is_Space)

   --------------
   -- Channels --
   --------------

   --  The root of the channels in Appserver.HTTP.Channels, so that this package and embedded
   --  servers do not depend on them

   type Channel_Root is abstract tagged limited null record;

   procedure Abandon (Self : not null access Channel_Root) is abstract;
   --  Releases the builder's reference to a channel whose response is not sent

   type Channel_Reference is access all Channel_Root'Class;

   -----------------
   -- The builder --
   -----------------

   Fields_Capacity : constant := 4_096;
   --  The maximum total length of the header fields that a handler adds, in bytes

   type Response_Builder (Capacity : Positive) is limited new Text_Sinks.Text_Sink with record
      File          : Descriptor := No_File;
      Source        : Source_Reference := null;
      Channel       : Channel_Reference := null;
      --  The channel that the response opens
      Is_Counted    : Boolean    := False;
      --  True if the number of bytes that Source will produce is known
      Offset        : Byte_Count := 0;
      File_Length   : Byte_Count := 0;
      --  The number of bytes of the file section or of Source
      Fields_Length : Natural    := 0;
      Text_Length   : Natural    := 0;
      Fields        : String (1 .. Fields_Capacity);
      Text          : String (1 .. Capacity);
   end record;

   procedure Drop_Channel (Self : in out Response_Builder);
   --  Abandons the channel, if there is one

   function Length (Self : Response_Builder) return Natural is (Self.Text_Length);
   function Has_File (Self : Response_Builder) return Boolean is (Self.File /= No_File);
   function Has_Source (Self : Response_Builder) return Boolean is (Self.Source /= null);
   function Content (Self : Response_Builder) return String is (Self.Text (1 .. Self.Text_Length));

   -----------------
   -- The request --
   -----------------

   type Span is record
      First : Positive := 1;
      Last  : Natural  := 0;
   end record;
   --  A range of indexes in the request's bytes

   function Length (Self : Span) return Natural is (Self.Last - Self.First + 1);

   function Trimmed (Text : String; Within : Span) return Span;
   --  Returns the span without leading and trailing spaces and tabs

   type Field_Line is record
      Name, Value : Span;
   end record;

   Max_Fields : constant := 100;
   --  The maximum number of lines of a header

   type Field_Lines is array (1 .. Max_Fields) of Field_Line;

   type Parse_Step is
     (In_Header, In_Content, In_Chunk_Size, In_Chunk, Behind_Chunk, In_Trailer, Complete);

   type Filter_Marks is mod 2 ** 64;
   --  A set of filters, in which each filter has one bit

   type Progress is record
      Step         : Parse_Step := In_Header;
      Continued    : Boolean    := False;
      --  True if the server has sent 100 (Continue)
      Has_Line     : Boolean    := False;
      --  True if the header's first line has arrived completely
      Searched_To  : Natural    := 0;
      --  The index of the last byte that has been searched for a line end
      Header_Last  : Natural    := 0;
      --  The index of the last byte of the header
      Content_Last : Natural    := 0;
      --  The index of the last content byte that has arrived
      Overhead     : Natural    := 0;
      --  The number of bytes of chunk framing, which are not content
      Is_Planned   : Boolean    := False;
      --  True if the policy for the content has been determined
      Passed       : Filter_Marks := 0;
      --  The filters that have already processed the request
      Remaining    : Byte_Count := 0;
      --  The number of bytes of the content, or of the current chunk, that have not arrived yet
      Max_Content  : Byte_Count := 0;
      --  The maximum length of the content, in bytes
      Delivered    : Byte_Count := 0;
      --  The number of bytes that were passed to a receiver and removed
   end record;
   --  The state of the parser. For a request that arrives slowly, the server stores only this
   --  record and the bytes.

   type Request (Capacity : Positive; Builder : not null access Response_Builder) is
     tagged limited record
      First         : Positive := 1;
      Last          : Natural  := 0;
      --  The range of the bytes that have arrived, starting with the first byte of the request.
      --  Bytes after the content belong to the following requests.
      State         : Progress;
      Client        : IP_Addresses.Address;
      Session       : access Transports.Session'Class := null;
      --  The session of the connection; null if the connection is not encrypted
      Is_Read       : Boolean := False;
      --  True if the following components have been set from the header. False while the header is
      --  incomplete, or after only the bytes and the state of a request have been restored.
      Kind          : Method_Kind := Get;
      Minor_Version : Natural range 0 .. 9 := 1;
      Is_Last       : Boolean := False;
      --  True if the client requests to close the connection, or uses an old version without
      --  persistent connections
      Expects       : Boolean := False;
      --  True if the client waits for 100 (Continue)
      Target        : Span;
      Query_Part    : Span;
      Host_Part     : Span;
      Line_Count    : Natural range 0 .. Max_Fields := 0;
      Lines         : Field_Lines;
      Bytes         : String (1 .. Capacity);
   end record;

   function Method (Self : Request) return Method_Kind is
     (if Self.Kind = Head then Get else Self.Kind);
   function Is_Head (Self : Request) return Boolean is (Self.Kind = Head);
   function Path (Self : Request) return String is
     (Self.Bytes (Self.Target.First .. Self.Target.Last));
   function Path_Is (Self : Request; Path : String) return Boolean is
     (Self.Bytes (Self.Target.First .. Self.Target.Last) = Path);
   function Path_Starts_With (Self : Request; Prefix : String) return Boolean is
     (Length (Self.Target) >= Prefix'Length
      and then Self.Bytes (Self.Target.First .. Self.Target.First + Prefix'Length - 1) = Prefix);
   function Client_Address (Self : Request) return IP_Addresses.Address is (Self.Client);
   function Is_Secure (Self : Request) return Boolean is (Self.Session /= null);
   function Query (Self : Request) return String is
     (Self.Bytes (Self.Query_Part.First .. Self.Query_Part.Last));
   function Host (Self : Request) return String is
     (Self.Bytes (Self.Host_Part.First .. Self.Host_Part.Last));
   function Field_Count (Self : Request) return Natural is (Self.Line_Count);
   function Field_Name (Self : Request; Index : Positive) return String is
     (Self.Bytes (Self.Lines (Index).Name.First .. Self.Lines (Index).Name.Last));
   function Field_Value (Self : Request; Index : Positive) return String is
     (Self.Bytes (Self.Lines (Index).Value.First .. Self.Lines (Index).Value.Last));
   function Content_Length (Self : Request) return Natural is
     (Self.State.Content_Last - Self.State.Header_Last);
   function Content (Self : Request) return String is
     (Self.Bytes (Self.State.Header_Last + 1 .. Self.State.Content_Last));

   ------------------
   -- The response --
   ------------------

   type Content_Kind is
     (None, Static_Text, Builder_Text, File_Bytes, Source_Bytes, Channel_Bytes);

   type Response is record
      Status     : Status_Number := Not_Found;
      Kind       : Content_Kind  := None;
      Media_Type : Constant_Text := null;
      Content    : Constant_Text := null;
   end record;

   function Status_Only (Status : Status_Code) return Response is
     ((Status => Status, others => <>));
   function Static_Response
     (Media_Type : not null Constant_Text;
      Content    : not null Constant_Text;
      Status     : Status_Code := OK) return Response is
     ((Status, Static_Text, Media_Type, Content));
   function Text_Response
     (Media_Type : not null Constant_Text; Status : Status_Code := OK) return Response is
     ((Status, Builder_Text, Media_Type, null));
   function File_Response
     (Media_Type : not null Constant_Text; Status : Status_Code := OK) return Response is
     ((Status, File_Bytes, Media_Type, null));
   function Stream_Response
     (Media_Type : not null Constant_Text; Status : Status_Code := OK) return Response is
     ((Status, Source_Bytes, Media_Type, null));
   function Status (Self : Response) return Status_Number is (Self.Status);
   function Media_Type (Self : Response) return Constant_Text is (Self.Media_Type);

end Appserver.HTTP;
