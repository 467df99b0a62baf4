--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Content by streams, which tests ask through sockets and without. Nothing of it is from the heap.

with Appserver.HTTP.Multipart;
with Appserver.HTTP.Services;
with Appserver.Text_Sinks;
with Interfaces;

package Stream_Services is

   use Appserver;

   function Handles (Request : HTTP.Request) return Boolean;
   --  /upload/…, /stream, /open, /text

   function Policy_For (Request : HTTP.Request) return HTTP.Services.Content_Policy;
   --  /upload/count: 4 GiB at most; the response is "LENGTH CRC-32". /upload/short: the same with
   --  1,000 bytes. /upload/enough: 10 bytes are enough. /upload/raise: what takes a "!" raises an
   --  exception. /upload/slow: each piece takes 0.01 s. /upload/buffered: at most 100 bytes, as a
   --  whole. /upload/refused: 401. /upload/plan: raises an exception. Of the first five there may
   --  be 16 at a time; others get 503. /upload/form: multipart/form-data of at most 20 parts, whose
   --  headers have at most 500 bytes; the response is a line "NAME|FILE|TYPE|LENGTH|CRC-32" for
   --  each. There may be 4 of these at a time.

   function Respond (Request : HTTP.Request) return HTTP.Response;
   --  /upload/buffered: the content. /stream?size=N&piece=N: N bytes of Byte, in pieces, with
   --  &counted=N a Content-Length, with &raise=N an exception behind so many. There may be 16 at a
   --  time; others get 503. /open: how many of all kinds there are. /text?size=N: so many bytes of
   --  text, with &type=T of that type, and with &FIELD=VALUE for each of the fields ETag,
   --  Content-Encoding, Cache-Control and Vary; with &fixed the same as text that is fixed

   function Byte (Offset : HTTP.Byte_Count) return Character;

private

   type Upload_Kind is (Count, Enough, Raising, Slow);

   type Upload is limited new HTTP.Services.Content_Receiver with record
      Index  : Positive := 1;
      --  Its slot among all uploads
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
