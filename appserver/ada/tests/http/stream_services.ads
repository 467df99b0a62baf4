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
   --  Returns the policy for a path. /upload/count: a receiver for at most 4 GiB; the response is
   --  "LENGTH CRC-32". /upload/short: a receiver for at most 1,000 bytes, with the same response.
   --  /upload/enough: a receiver that stops after 10 bytes. /upload/raise: a receiver that raises
   --  an exception at a "!". /upload/slow: a receiver that takes 0.1 s for each piece. At most 16
   --  of these receivers run concurrently; further requests get 503. /upload/buffered: at most 100
   --  bytes, buffered. /upload/refused: 401. /upload/plan: an exception. /upload/form: a receiver
   --  for multipart/form-data with at most 20 parts, whose headers have at most 500 bytes; the
   --  response has a line "NAME|FILE|TYPE|LENGTH|CRC-32" for each part. At most 4 requests for
   --  /upload/form run concurrently.

   function Respond (Request : HTTP.Request) return HTTP.Response;
   --  Responds to a request by its path. /upload/buffered: the content. /stream?size=N&piece=N: N
   --  bytes of Byte, in pieces; with &counted=N, the response has a Content-Length; with &raise=N,
   --  the source raises an exception after N bytes. At most 16 streams run concurrently; further
   --  requests get 503. /open: the number of open receivers and sources of all kinds. /text?size=N:
   --  N bytes of text. With &type=T, the media type is T. With &FIELD=VALUE, the response has the
   --  field ETag, Content-Encoding, Cache-Control or Vary. With &fixed, the content is a constant
   --  text.

   function Byte (Offset : HTTP.Byte_Count) return Character;

private

   type Upload_Kind is (Count, Enough, Raising, Slow);

   type Upload is limited new HTTP.Services.Content_Receiver with record
      Index  : Positive := 1;
      --  The index of the slot that the upload occupies
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
