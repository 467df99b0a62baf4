--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  HTTP/1.1 as the handlers of a server see it: a request that is there as a whole, a response
--  builder to write the response's content and fields to, and the response that says what to send.
--
--     function Hello (Request : HTTP.Request) return HTTP.Response is
--     begin
--        Request.Builder.Append ("Hello ");
--        Request.Builder.Append (Request.Parameter ("name"));
--        return HTTP.Text_Response (HTTP.Plain_Text'Access);
--     end Hello;
--
--  A request and its builder belong to a task of the server; a handler uses them as long as it
--  runs. Nothing here takes memory from the heap. What is named in comments is of RFC 9110
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
   --  The methods that a handler may be called for. Any other is answered with 501.

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
   --  The reason phrase of the status line, such as "Not Found"

   type Constant_Text is access constant String;
   --  Text that lives as long as the program: it is sent without a copy

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
   --  True if Text can be the name of a field (RFC 9110, 5.6.2)

   function Is_Field_Value (Text : String) return Boolean is
     (for all C of Text => C not in ASCII.NUL .. ASCII.BS | ASCII.LF .. ASCII.US | ASCII.DEL);
   --  True if Text can be the value of a field: it has no control characters (RFC 9110, 5.5)

   ------------------------
   -- Content by streams --
   ------------------------

   Min_Rate : constant := 500;
   --  Bytes per second, over a window that Time_Limits sets. A client that sends content, or takes
   --  a response, more slowly loses its connection.

   Crowded_Rate : constant := 4_000;
   --  Bytes per second, since the client is waited for, or over the last ten seconds. When a server
   --  has no room for a new client, one that is slower may lose its connection.

   type Content_Source is limited interface;
   --  Content of a response that is made while it is sent, of any length, in constant memory. A
   --  server calls it from one task at a time, though not always the same.

   procedure Read
     (Self : in out Content_Source; Into : out String; Count : out Natural) is abstract;
   --  The next bytes, as the first Count of Into; 0 at the end. Into has room for 1,024 at least,
   --  or for what is left of a length that is known. Called when the client can take more. It may
   --  block, as a handler may. An exception is reported, and the content ends early.

   procedure Close (Self : not null access Content_Source) is null;
   --  The last call, made in any case: the server has no reference any more, so Close may free the
   --  source. It has to be quick. Exceptions are ignored.

   type Source_Reference is access all Content_Source'Class;

   -------------
   -- Builder --
   -------------

   type Descriptor is range -1 .. 2 ** 31 - 1;
   --  An open file of the operating system

   No_File : constant Descriptor := -1;

   Response_Too_Large : exception;
   --  More was written than a response builder of this server holds. A request whose handler does
   --  not handle this exception is answered with 500.

   type Response_Builder (Capacity : Positive) is limited new Text_Sinks.Text_Sink with private;
   --  The content, of at most Capacity bytes, and the fields that a handler writes for its response

   overriding procedure Append (Self : in out Response_Builder; Text : String) with Inline;
   procedure Append (Self : in out Response_Builder; Byte : Character) with Inline;
   procedure Append (Self : in out Response_Builder; Number : Long_Long_Integer);
   --  Adds to the content: a number as its decimal digits, with a minus sign but no space before.
   --  Response_Too_Large if it does not fit.

   function Length (Self : Response_Builder) return Natural;
   --  Bytes of content so far

   function Content (Self : Response_Builder) return String;
   --  A copy of the content so far

   procedure Truncate (Self : in out Response_Builder; Length : Natural := 0)
     with Pre => Length <= Self.Length;
   --  Forgets the content behind the first Length bytes of it

   procedure Add_Field (Self : in out Response_Builder; Name, Value : String)
     with Pre => Is_Token (Name) and then Is_Field_Value (Value)
                   and then not Is_Reserved (Name);
   --  A field of the response's header. Response_Too_Large if it does not fit.

   function Is_Reserved (Name : String) return Boolean;
   --  True if a field is not for handlers to set, by its name in any case: Date, Content-Length,
   --  Transfer-Encoding, Trailer, Connection, Keep-Alive and Upgrade are the server's, and
   --  Content-Type is named by the response

   procedure Attach
     (Self   : in out Response_Builder;
      File   : Descriptor;
      Offset : Byte_Count;
      Length : Byte_Count)
     with Pre => File /= No_File and then not Self.Has_File and then not Self.Has_Source;
   --  Length bytes of an open regular file, from Offset on, are the content that HTTP.File_Response
   --  sends, without a copy of it. The file is the builder's from here on: it is closed when it was
   --  sent or is not wanted.

   function Has_File (Self : Response_Builder) return Boolean;

   procedure Drop_File (Self : in out Response_Builder)
     with Post => not Self.Has_File;
   --  Closes it

   procedure Attach (Self : in out Response_Builder; Source : not null Source_Reference)
     with Pre => not Self.Has_File and then not Self.Has_Source;
   --  What Source gives is the content that HTTP.Stream_Response sends: in chunks, or to a client
   --  of HTTP/1.0 until the connection is closed. Source is the builder's from here on: it is
   --  closed when it was sent or is not wanted.

   procedure Attach
     (Self : in out Response_Builder; Source : not null Source_Reference; Length : Byte_Count)
     with Pre => not Self.Has_File and then not Self.Has_Source;
   --  The same with a Content-Length. A source that ends before Length bytes is a failure.

   function Has_Source (Self : Response_Builder) return Boolean;

   procedure Drop_Source (Self : in out Response_Builder)
     with Post => not Self.Has_Source;
   --  Closes it

   procedure Clear (Self : in out Response_Builder);
   --  Content, fields, file and source: as it is before a handler is called

   -------------
   -- Request --
   -------------

   type Request
     (Capacity : Positive; Builder : not null access Response_Builder) is tagged limited private;
   --  Capacity is in bytes, of header and content. Builder is for the handler to write to.

   function Method (Self : Request) return Method_Kind
     with Post => Method'Result /= Head;
   --  HEAD is the server's: a handler is asked for GET, and the content is left out

   function Is_Head (Self : Request) return Boolean;
   --  True if the content is left out, for handlers that can save work then

   function Path (Self : Request) return String;
   --  From its first "/" on: percent-encoded but for characters that never need it (RFC 3986,
   --  6.2.2.2), "." and ".." where they were. It has no malformed percent-encoding.

   function Path_Is (Self : Request; Path : String) return Boolean with Inline;
   --  True if the path is Path, byte for byte

   function Path_Starts_With (Self : Request; Prefix : String) return Boolean with Inline;

   function Query (Self : Request) return String;
   --  The text after the path's "?", as it was sent: any bytes but "#", spaces and control
   --  characters. Empty if there is none.

   function Has_Parameter (Self : Request; Name : String) return Boolean;
   --  True if the query has Name or Name=… between its "&"

   function Parameter (Self : Request; Name : String; Default : String := "") return String;
   --  The decoded value of the first of that name in the query; "+" is a space

   function Line (Self : Request) return String;
   --  Method, path, query and version, as in "GET /hello?name=Ada HTTP/1.1"

   function Host (Self : Request) return String;
   --  The host of an absolute target, else the value of the field Host (RFC 9112, 3.2.2)

   function Client_Address (Self : Request) return IP_Addresses.Address with Inline;
   --  The address at the other end of the connection, which may be a proxy's. For the client behind
   --  proxies see Appserver.HTTP.Proxies.

   function Has_Field (Self : Request; Name : String) return Boolean;
   --  True if the header has a field of that name, in any case

   function Field (Self : Request; Name : String; Default : String := "") return String;
   --  The field's value. Values of several lines are joined with ", " (RFC 9110, 5.3).

   function Field_Count (Self : Request) return Natural;
   function Field_Name (Self : Request; Index : Positive) return String
     with Pre => Index <= Self.Field_Count;
   function Field_Value (Self : Request; Index : Positive) return String
     with Pre => Index <= Self.Field_Count;
   --  The header's lines in their order

   function Content_Length (Self : Request) return Natural;
   --  Bytes of the content, after the chunks of its transfer were joined; 0 if a receiver took it

   function Content (Self : Request) return String;
   --  A copy of the content

   procedure Read_Content
     (Self : Request; Read : not null access procedure (Content : String));
   --  Calls Read with the content, without a copy. Its first index is any.

   procedure Read_Path
     (Self : Request; Read : not null access procedure (Path : String));
   --  Calls Read with the path, without a copy

   function Is_Encoded (Text : String) return Boolean;
   --  True if every "%" in Text is followed by two hexadecimal digits

   function Decoded (Text : String; Plus_Is_Space : Boolean := False) return String;
   --  Text without its percent-encoding: any bytes, zero and "/" among them. A "%" that is not
   --  followed by two hexadecimal digits stands for itself (WHATWG URL, 1.3).

   --------------
   -- Response --
   --------------

   type Response is private;
   --  A status and its content. Fields that the handler added to the builder are sent with it.

   function Is_Media_Type (Text : String) return Boolean is
     (Text'Length in 1 .. 128 and then Is_Field_Value (Text));

   function Status_Only (Status : Status_Code) return Response;
   --  Without content: 204, 304, 404 …

   function Static_Response
     (Media_Type : not null Constant_Text;
      Content    : not null Constant_Text;
      Status     : Status_Code := OK) return Response
     with Pre => Is_Media_Type (Media_Type.all);
   --  Content that is always the same, sent without a copy

   function Text_Response
     (Media_Type : not null Constant_Text; Status : Status_Code := OK) return Response
     with Pre => Is_Media_Type (Media_Type.all);
   --  The builder's content

   function File_Response
     (Media_Type : not null Constant_Text; Status : Status_Code := OK) return Response
     with Pre => Is_Media_Type (Media_Type.all);
   --  The part of a file that is attached to the builder

   function Stream_Response
     (Media_Type : not null Constant_Text; Status : Status_Code := OK) return Response
     with Pre => Is_Media_Type (Media_Type.all);
   --  The bytes of the source that is attached to the builder

   function Not_Allowed (Request : HTTP.Request; Allow : String) return Response
     with Pre => Is_Field_Value (Allow);
   --  The response to a method that the target does not support: 405 with the methods that it
   --  supports, such as "GET, HEAD". OPTIONS gets 204 with the same.

   function Status (Self : Response) return Status_Code;

   function Media_Type (Self : Response) return Constant_Text;
   --  null if there is no content

   -------------
   -- Servers --
   -------------

   type Port_Number is range 0 .. 65_535;

   Network_Error : exception;
   --  A server cannot listen; the message has the system's reason

   type Time_Limits is record
      Idle    : Duration := 75.0;
      --  Between requests
      Header  : Duration := 20.0;
      --  From the first byte of a request to the end of its header; 408 after it
      Content : Duration := 60.0;
      --  From there to the end of its content; 408 after it. Each Min_Rate bytes that arrive
      --  prolong it by a second, up to this time from now.
      Sending : Duration := 30.0;
      --  For a response that a client does not take at once. Each Min_Rate bytes that it takes
      --  prolong it by a second, up to this time from now.
      Closing : Duration := 0.5;
      --  When a server stops: how long it waits for requests that clients have already sent
   end record;
   --  How long a server waits for a client before it closes the connection. Time in which the
   --  program was suspended does not count.

   type Handler is not null access function (Request : HTTP.Request) return Response;
   --  Handles a request. If it raises an exception, the response is 500. The server profile calls
   --  it from several tasks at once.

   ----------------
   -- Exceptions --
   ----------------

   type Exception_Report is access procedure
     (Error : Ada.Exceptions.Exception_Occurrence; Request_Line : String);
   --  Gets an exception that a handler let pass, with the line of the request; or one of the server
   --  itself, with "". It is called by the task in which the exception was raised, from multiple
   --  tasks at once. Its own exceptions are ignored.

   procedure Report_On_Standard_Error
     (Error : Ada.Exceptions.Exception_Occurrence; Request_Line : String);
   --  One line: "GET /hello HTTP/1.1: CONSTRAINT_ERROR: message"

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
