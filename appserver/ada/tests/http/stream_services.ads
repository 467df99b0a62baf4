--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Streamed content, for tests with and without sockets. Uses no heap memory.

with Appserver.HTTP.Multipart;
with Appserver.HTTP.Services;
with Appserver.Text_Sinks;
with Interfaces;

package Stream_Services is

   use Appserver;

   function Handles (Request : HTTP.Request) return Boolean;
   --  Returns True for /upload/…, /stream, /open and /text

   function Policy_For (Request : HTTP.Request) return HTTP.Services.Content_Policy;
   --  Returns the policy for a path. /upload/count: at most 4 GiB; the response is "LENGTH CRC-32".
   --  /upload/short: the same with at most 1,000 bytes. /upload/enough: stops after 10 bytes.
   --  /upload/raise: the receiver raises an exception at a "!". /upload/slow: each piece takes 0.01
   --  s. /upload/buffered: at most 100 bytes, buffered. /upload/refused: 401. /upload/plan: raises
   --  an exception. At most 16 of the first five run concurrently; others get 503. /upload/form:
   --  multipart/form-data with at most 20 parts, whose headers have at most 500 bytes; the response
   --  is a line "NAME|FILE|TYPE|LENGTH|CRC-32" for each part. At most 4 of these run concurrently.

   function Respond (Request : HTTP.Request) return HTTP.Response;
   --  Responds to a request by its path. /upload/buffered: the content. /stream?size=N&piece=N: N
   --  bytes of Byte, in pieces; with &counted=N, has a Content-Length; with &raise=N, raises an
   --  exception after N bytes. At most 16 run concurrently; others get 503. /open: the number of
   --  open receivers and sources of all kinds. /text?size=N: N bytes of text; with &type=T, the
   --  media type T; with &FIELD=VALUE, one of the fields ETag, Content-Encoding, Cache-Control and
   --  Vary; with &fixed, the same as constant text.

   function Byte (Offset : HTTP.Byte_Count) return Character;

private

   type Upload_Kind is (Count, Enough, Raising, Slow);

   type Upload is limited new HTTP.Services.Content_Receiver with record
      Index  : Positive := 1;
      --  The slot of the upload
      Kind   : Upload_Kind := Count;
      Length : HTTP.Byte_Count := 0;
      CRC    : Interfaces.Unsigned_32 := 0;
   end record;

   overriding procedure Receive
     (Self : in out Upload; Bytes : String; Wants_More : in out Boolean);
   overriding function Respond
     (Self : in out Upload; Request : HTTP.Request) return HTTP.Response;
   overriding procedure Close (Self : not null access Upload);

   type Form_Upload is limited new HTTP.Multipart.Reader (Header_Capacity => 500) with record
      Index  : Positive := 1;
      Length : HTTP.Byte_Count := 0;
      CRC    : Interfaces.Unsigned_32 := 0;
      Lines  : Text_Sinks.Text_Buffer (16_000);
   end record;

   overriding procedure Begin_Part (Self : in out Form_Upload);
   overriding procedure Receive_Part (Self : in out Form_Upload; Bytes : String);
   overriding procedure End_Part (Self : in out Form_Upload);
   overriding function Respond
     (Self : in out Form_Upload; Request : HTTP.Request) return HTTP.Response;
   overriding procedure Close (Self : not null access Form_Upload);

   type Pattern_Source is limited new HTTP.Content_Source with record
      Index : Positive := 1;
      Offset, Size, Piece, Raise_At : HTTP.Byte_Count := 0;
   end record;

   overriding procedure Read
     (Self : in out Pattern_Source; Into : out String; Count : out Natural);
   overriding procedure Close (Self : not null access Pattern_Source);

end Stream_Services;
