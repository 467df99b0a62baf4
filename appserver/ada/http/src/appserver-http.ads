--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  HTTP/1.1 as handlers see it: a complete request, a response builder that collects content and
--  fields, and the response that says what to send.
--
--     function Hello (Request : HTTP.Request) return HTTP.Response is
--     begin
--        Request.Builder.Append ("Hello ");
--        Request.Builder.Append (Request.Parameter ("name"));
--        return HTTP.Text_Response (HTTP.Plain_Text'Access);
--     end Hello;
--
--  A request and its builder belong to a task of the server. A handler may use them until it
--  returns. Nothing here allocates heap memory. Terms and section numbers are those of RFC 9110
--  (semantics) and RFC 9112 (HTTP/1.1).

pragma Ada_2022;

with Ada.Exceptions;
with Appserver.IP_Addresses;
with Appserver.Text_Sinks;

package Appserver.HTTP is

   --  Preconditions are checked in every build: the exception of a broken one is part of the
   --  contract.
   pragma Assertion_Policy (Pre => Check, Pre'Class => Check);

   -----------
   -- Words --
   -----------

   type Method_Kind is (Get, Head, Post, Put, Delete, Patch, Options);
   --  The supported methods. The server answers any other with 501.

   type Status_Code is range 200 .. 599;

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
   --  Text that exists for the lifetime of the program. The server sends it without a copy.

   Plain_Text   : aliased constant String := "text/plain; charset=utf-8";
   JSON_Text    : aliased constant String := "application/json";
   XML_Text     : aliased constant String := "application/xml";
   Octet_Stream : aliased constant String := "application/octet-stream";
   --  Media types

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
   --  Checks the value of a field: it must not have control characters (RFC 9110, 5.5).
   --  @param Text the value
   --  @return True if the value is valid

   ----------------------
   -- Streamed content --
   ----------------------

   Min_Rate : constant := 500;
   --  Minimum transfer rate in bytes per second, over a window that Time_Limits sets. The server
   --  closes the connection of a client that sends content, or reads a response, more slowly.

   Crowded_Rate : constant := 4_000;
   --  Minimum transfer rate of a full server in bytes per second, measured since the server began
   --  to wait for the client, or over the last ten seconds. A server that has no room for a new
   --  client may close the connection of a slower one.

   type Content_Source is limited interface;
   --  Produces the content of a response while the server sends it, of any length, in constant
   --  memory. One task at a time calls it, but not always the same one.

   procedure Read
     (Self : in out Content_Source; Into : out String; Count : out Natural) is abstract;
   --  Produces the next bytes. The server calls it when the client can take more. It may block, as
   --  a handler may. The server reports an exception and ends the content early.
   --  @param Self the source
   --  @param Into receives the bytes. It has room for at least 1,024 bytes, or for the rest of a
   --  known length.
   --  @param Count the number of bytes, from the beginning of Into; 0 at the end of the content

   procedure Close (Self : not null access Content_Source) is null;
   --  Releases the source. This is always the last call: the server has no reference any more, so
   --  Close may free the source. It must not block. Exceptions are ignored.
   --  @param Self the source

   type Source_Reference is access all Content_Source'Class;

   -------------
   -- Builder --
   -------------

   type Descriptor is range -1 .. 2 ** 31 - 1;
   --  An open file of the operating system

   No_File : constant Descriptor := -1;

   Response_Too_Large : exception;
   --  The content or the fields exceed the capacity of the builder. If the handler does not handle
   --  this exception, the server sends 500.

   type Response_Builder (Capacity : Positive) is limited new Text_Sinks.Text_Sink with private;
   --  Collects the content, of at most Capacity bytes, and the fields of a response

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
     with Pre => Length <= Self.Length or else raise Misuse_Error with "the content is shorter";
   --  Removes the end of the content.
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
   --  Identifies the fields that handlers must not set. The server sets Date, Content-Length,
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
                 or else raise Misuse_Error with "there is no file, or one or a source is attached";
   --  Attaches a part of an open regular file, which HTTP.File_Response sends without a copy. The
   --  builder then owns the file, and closes it when it was sent or discarded.
   --  @param Self the builder
   --  @param File the open file
   --  @param Offset the position of the first byte
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
                 or else raise Misuse_Error with "a file or a source is attached";
   --  Attaches a source, whose bytes HTTP.Stream_Response sends: in chunks, or to a client of
   --  HTTP/1.0 until the connection closes. The builder then owns the source, and closes it when
   --  it was sent or discarded.
   --  @param Self the builder
   --  @param Source the source of the content

   procedure Attach
     (Self : in out Response_Builder; Source : not null Source_Reference; Length : Byte_Count)
     with Pre => (not Self.Has_File and then not Self.Has_Source)
                 or else raise Misuse_Error with "a file or a source is attached";
   --  Attaches a source of known length, which is sent with a Content-Length. A source that ends
   --  early is an error: the server closes the connection.
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
   --  Removes the content, the fields, the file and the source. The builder is then as it is before
   --  a handler is called.
   --  @param Self the builder

   -------------
   -- Request --
   -------------

   type Request
     (Capacity : Positive; Builder : not null access Response_Builder) is tagged limited private;
   --  A complete request. Capacity is the maximum size of header and content in bytes. Handlers
   --  write the content and the fields of the response to Builder.

   function Method (Self : Request) return Method_Kind
     with Post => Method'Result /= Head;
   --  Returns the method. It is Get for a HEAD request: the server calls the handler, and leaves
   --  the content out.
   --  @param Self the request
   --  @return the method

   function Is_Head (Self : Request) return Boolean;
   --  Identifies HEAD requests, for handlers that can save work when the content is left out.
   --  @param Self the request
   --  @return True if the server leaves the content out

   function Path (Self : Request) return String;
   --  Returns the path as the client sent it, from its first "/". It is percent-encoded except for
   --  characters that never need encoding (RFC 3986, 6.2.2.2), may contain "." and "..", and has no
   --  malformed percent-encoding.
   --  @param Self the request
   --  @return the encoded path

   function Path_Is (Self : Request; Path : String) return Boolean with Inline;
   --  Compares the path byte for byte.
   --  @param Self the request
   --  @param Path the expected path
   --  @return True if they are equal

   function Path_Starts_With (Self : Request; Prefix : String) return Boolean with Inline;
   --  Compares the beginning of the path byte for byte.
   --  @param Self the request
   --  @param Prefix the expected beginning
   --  @return True if the path starts with Prefix

   function Query (Self : Request) return String;
   --  Returns the query as the client sent it: any bytes except "#", spaces and control characters.
   --  @param Self the request
   --  @return the text after "?"; empty if there is none

   function Has_Parameter (Self : Request; Name : String) return Boolean;
   --  Looks for a parameter in the query, as Name or Name=…
   --  @param Self the request
   --  @param Name the name of the parameter
   --  @return True if the query has it

   function Parameter (Self : Request; Name : String; Default : String := "") return String;
   --  Returns the decoded value of a parameter of the query. "+" stands for a space.
   --  @param Self the request
   --  @param Name the name of the parameter
   --  @param Default the value of a missing parameter
   --  @return the value of the first parameter with that name

   function Line (Self : Request) return String;
   --  Returns the request line.
   --  @param Self the request
   --  @return method, path, query and version, such as "GET /hello?name=Ada HTTP/1.1"

   function Host (Self : Request) return String;
   --  Returns the host that the client addresses (RFC 9112, 3.2.2).
   --  @param Self the request
   --  @return the host of an absolute target, else the value of the field Host

   function Client_Address (Self : Request) return IP_Addresses.Address with Inline;
   --  Returns the address of the peer, which may be a proxy. Appserver.HTTP.Proxies finds the
   --  client behind proxies.
   --  @param Self the request
   --  @return the address at the other end of the connection

   function Has_Field (Self : Request; Name : String) return Boolean;
   --  Looks for a field in the header.
   --  @param Self the request
   --  @param Name the name of the field, in upper or lower case
   --  @return True if the header has it

   function Field (Self : Request; Name : String; Default : String := "") return String;
   --  Returns the value of a field. The values of repeated fields are joined with ", " (RFC 9110,
   --  5.3).
   --  @param Self the request
   --  @param Name the name of the field, in upper or lower case
   --  @param Default the value of a missing field
   --  @return the value

   function Field_Count (Self : Request) return Natural;
   --  @param Self the request
   --  @return the number of field lines in the header

   function Field_Name (Self : Request; Index : Positive) return String
     with Pre => Index <= Self.Field_Count or else raise Misuse_Error with "there is no such field";
   --  @param Self the request
   --  @param Index the number of the field line, from 1
   --  @return the name in that line

   function Field_Value (Self : Request; Index : Positive) return String
     with Pre => Index <= Self.Field_Count or else raise Misuse_Error with "there is no such field";
   --  @param Self the request
   --  @param Index the number of the field line, from 1
   --  @return the value in that line

   function Content_Length (Self : Request) return Natural;
   --  Returns the length of the content after chunks were joined.
   --  @param Self the request
   --  @return the number of bytes; 0 if a receiver took the content

   function Content (Self : Request) return String;
   --  Returns a copy of the content.
   --  @param Self the request
   --  @return the content

   procedure Read_Content
     (Self : Request; Read : not null access procedure (Content : String));
   --  Passes the content to a procedure without a copy.
   --  @param Self the request
   --  @param Read gets the content, whose first index may be any number

   procedure Read_Path
     (Self : Request; Read : not null access procedure (Path : String));
   --  Passes the path to a procedure without a copy.
   --  @param Self the request
   --  @param Read gets the path, whose first index may be any number

   function Is_Encoded (Text : String) return Boolean;
   --  Checks percent-encoding.
   --  @param Text the encoded text
   --  @return True if two hexadecimal digits follow every "%"

   function Decoded (Text : String; Plus_Is_Space : Boolean := False) return String;
   --  Decodes percent-encoding. A "%" that is not followed by two hexadecimal digits stands for
   --  itself (WHATWG URL, 1.3).
   --  @param Text the encoded text
   --  @param Plus_Is_Space True to decode "+" as a space
   --  @return the decoded bytes, which may include zero and "/"

   --------------
   -- Response --
   --------------

   type Response is private;
   --  A status and its content. The server also sends the fields in the request's builder.

   function Is_Media_Type (Text : String) return Boolean is
     (Text'Length in 1 .. 128 and then Is_Field_Value (Text));
   --  Checks the length and the characters of a media type.
   --  @param Text the media type
   --  @return True if it can be sent

   function Status_Only (Status : Status_Code) return Response;
   --  Makes a response without content.
   --  @param Status the status code, such as 204, 304 or 404
   --  @return the response

   function Static_Response
     (Media_Type : not null Constant_Text;
      Content    : not null Constant_Text;
      Status     : Status_Code := OK) return Response
     with Pre => Is_Media_Type (Media_Type.all)
                 or else raise Misuse_Error with "the media type is invalid";
   --  Makes a response with constant content, which the server sends without a copy.
   --  @param Media_Type the value of Content-Type
   --  @param Content the content
   --  @param Status the status code
   --  @return the response

   function Text_Response
     (Media_Type : not null Constant_Text; Status : Status_Code := OK) return Response
     with Pre => Is_Media_Type (Media_Type.all)
                 or else raise Misuse_Error with "the media type is invalid";
   --  Makes a response with the content of the builder.
   --  @param Media_Type the value of Content-Type
   --  @param Status the status code
   --  @return the response

   function File_Response
     (Media_Type : not null Constant_Text; Status : Status_Code := OK) return Response
     with Pre => Is_Media_Type (Media_Type.all)
                 or else raise Misuse_Error with "the media type is invalid";
   --  Makes a response with the part of a file that is attached to the builder.
   --  @param Media_Type the value of Content-Type
   --  @param Status the status code
   --  @return the response

   function Stream_Response
     (Media_Type : not null Constant_Text; Status : Status_Code := OK) return Response
     with Pre => Is_Media_Type (Media_Type.all)
                 or else raise Misuse_Error with "the media type is invalid";
   --  Makes a response with the bytes of the source that is attached to the builder.
   --  @param Media_Type the value of Content-Type
   --  @param Status the status code
   --  @return the response

   function Not_Allowed (Request : HTTP.Request; Allow : String) return Response
     with Pre => Is_Field_Value (Allow)
                 or else raise Misuse_Error with "the value of the field is invalid";
   --  Makes the response for a method that the target does not support.
   --  @param Request the request
   --  @param Allow the supported methods, such as "GET, HEAD"
   --  @return a response with the field Allow: 204 for OPTIONS, else 405

   function Status (Self : Response) return Status_Code;
   --  @param Self the response
   --  @return the status code

   function Media_Type (Self : Response) return Constant_Text;
   --  @param Self the response
   --  @return the media type; null if there is no content

   -------------
   -- Servers --
   -------------

   type Port_Number is range 0 .. 65_535;

   Network_Error : exception;
   --  A server cannot listen. The message has the reason that the system reports.

   type Time_Limits is record
      Idle    : Duration := 75.0;
      --  Between requests
      Header  : Duration := 20.0;
      --  From the first byte of a request to the end of its header; then 408
      Content : Duration := 60.0;
      --  From the end of the header to the end of the content; then 408. Each Min_Rate bytes that
      --  arrive extend it by a second, to at most this time from now.
      Sending : Duration := 30.0;
      --  For a response that the client does not read at once. Each Min_Rate bytes that it reads
      --  extend it by a second, to at most this time from now.
      Closing : Duration := 0.5;
      --  Grace period for requests in flight when a server stops
   end record;
   --  How long, in seconds, a server waits for a client before it closes the connection. Time in
   --  which the program was suspended does not count.

   type Handler is not null access function (Request : HTTP.Request) return Response;
   --  Handles a request. If it raises an exception, the server sends 500. The server profile calls
   --  it from multiple tasks at once.

   ----------------
   -- Exceptions --
   ----------------

   type Exception_Report is access procedure
     (Error : Ada.Exceptions.Exception_Occurrence; Request_Line : String);
   --  Called with each exception that a handler does not handle, and with the request line; or with
   --  an exception of the server itself, and an empty line. The task that raised the exception
   --  calls it, so multiple tasks may call it at once. Its own exceptions are ignored.

   procedure Report_On_Standard_Error
     (Error : Ada.Exceptions.Exception_Occurrence; Request_Line : String);
   --  Writes one line, such as "GET /hello HTTP/1.1: CONSTRAINT_ERROR: message".
   --  @param Error the exception
   --  @param Request_Line the request line; empty for an exception of the server

private

   function Same (Left, Right : String) return Boolean;
   --  Equal apart from the case of letters

   procedure Take_Decoded
     (Text : String; Next : in out Positive; Byte : out Character; Plus_Is_Space : Boolean)
     with Pre => Next <= Text'Last;
   --  The byte that is encoded at Next, which is behind it then

   procedure Decode
     (Text : String; Plus_Is_Space : Boolean; Result : out String; Last : out Natural)
     with Pre => Result'First = 1 and then Result'Length >= Text'Length;
   --  Result (1 .. Last) is Decoded (Text, Plus_Is_Space)

   -----------------
   -- The builder --
   -----------------

   Fields_Capacity : constant := 4_096;
   --  Bytes of the fields that a handler may add

   type Response_Builder (Capacity : Positive) is limited new Text_Sinks.Text_Sink with record
      File          : Descriptor := No_File;
      Source        : Source_Reference := null;
      Is_Counted    : Boolean    := False;
      --  The length of what Source gives is known
      Offset        : Byte_Count := 0;
      File_Length   : Byte_Count := 0;
      --  Of the file's part, or of what Source gives
      Fields_Length : Natural    := 0;
      Text_Length   : Natural    := 0;
      Fields        : String (1 .. Fields_Capacity);
      Text          : String (1 .. Capacity);
   end record;

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
   --  A part of the request's bytes

   function Length (Self : Span) return Natural is (Self.Last - Self.First + 1);

   function Trimmed (Text : String; Within : Span) return Span;
   --  Without the spaces and tabs at its ends

   type Field_Line is record
      Name, Value : Span;
   end record;

   Max_Fields : constant := 100;
   --  Lines of a header

   type Field_Lines is array (1 .. Max_Fields) of Field_Line;

   type Parse_Step is
     (In_Header, In_Content, In_Chunk_Size, In_Chunk, Behind_Chunk, In_Trailer, Complete);

   type Filter_Marks is mod 2 ** 64;
   --  A bit for each filter

   type Progress is record
      Step         : Parse_Step := In_Header;
      Continued    : Boolean    := False;
      --  100 (Continue) was sent
      Has_Line     : Boolean    := False;
      --  The first line of the header has ended
      Searched_To  : Natural    := 0;
      --  The last byte of those known not to end a line
      Header_Last  : Natural    := 0;
      --  The last byte of the header
      Content_Last : Natural    := 0;
      --  The last byte of the content as far as it is there
      Overhead     : Natural    := 0;
      --  Bytes of the transfer's chunks that are not content
      Is_Planned   : Boolean    := False;
      --  It was asked for what becomes of the content
      Passed       : Filter_Marks := 0;
      --  The filters that were asked then, too
      Remaining    : Byte_Count := 0;
      --  How much is to follow: of the content, of a chunk
      Max_Content  : Byte_Count := 0;
      --  Bytes that the content may have
      Delivered    : Byte_Count := 0;
      --  Bytes of content that a receiver took: they are not there any more
   end record;
   --  How far the parser has come. It is all that is kept, besides the bytes, of a request that
   --  arrives slowly.

   type Request (Capacity : Positive; Builder : not null access Response_Builder) is
     tagged limited record
      First         : Positive := 1;
      Last          : Natural  := 0;
      --  Of the bytes that are there, from the request's first one on. Those behind its content are
      --  of the requests that follow.
      State         : Progress;
      Client        : IP_Addresses.Address;
      Is_Read       : Boolean := False;
      --  What follows is that of the header. It is not while a header is not complete, and after
      --  only bytes and state were restored.
      Kind          : Method_Kind := Get;
      Minor_Version : Natural range 0 .. 9 := 1;
      Is_Last       : Boolean := False;
      --  The client wants the connection to be closed, or is too old to want another thing
      Expects       : Boolean := False;
      --  The client waits to be told to go on with the content
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

   type Content_Kind is (None, Static_Text, Builder_Text, File_Bytes, Source_Bytes);

   type Response is record
      Status     : Status_Code   := Not_Found;
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
   function Status (Self : Response) return Status_Code is (Self.Status);
   function Media_Type (Self : Response) return Constant_Text is (Self.Media_Type);

end Appserver.HTTP;
