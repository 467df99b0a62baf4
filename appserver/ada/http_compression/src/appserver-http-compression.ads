--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  A filter that compresses text with gzip (RFC 1952) for clients that accept gzip. Programs that
--  use this package are linked with zlib.
--
--     Our_Shop   : aliased Shop;
--     Compressed : aliased HTTP.Compression.Gzip_Filter (Our_Shop'Access, 8);
--     …
--     Server.Start (Compressed'Access, Port => 8080);
--
--  The filter compresses the content of response builders, and static content, if the content has
--  at least Min_Length bytes, has a text media type, and becomes shorter. It does not compress
--  files and sources. To send compressed files, store compressed versions of the files (see
--  Precompressed in Files).

pragma Ada_2022;

with Appserver.HTTP.Filters;
with Appserver.HTTP.Services;

private with Interfaces.C;
private with System;

package Appserver.HTTP.Compression is

   Min_Length : constant := 1_024;
   --  The minimum length of content to compress, in bytes. Shorter content fits into one packet
   --  even uncompressed.

   type Gzip_Filter
     (Next : not null Services.Service_Reference; Compressors : Positive) is
     limited new Filters.Filter with private;
   --  A filter that compresses responses with gzip. Compressors is the maximum number of tasks that
   --  compress concurrently. If all compressors are busy, responses are sent uncompressed. Each
   --  compressor uses half a megabyte in the filter object, not on the heap. This memory does not
   --  become resident before it is needed.

   Max_Output_Length : constant := 65_536;
   --  The maximum length of compressed content, in bytes. If the compressed content is longer, the
   --  response is sent uncompressed.

   overriding procedure After
     (Self : in out Gzip_Filter; Request : HTTP.Request; Response : in out HTTP.Response);
   --  Compresses a response if the client accepts gzip and the content is compressible.
   --  @param Self the filter
   --  @param Request the request
   --  @param Response the response

   function Is_Compressible (Media_Type : String) return Boolean;
   --  @param Media_Type a media type
   --  @return True for text/*, JSON, XML, JavaScript, SVG, and types that end in +json or +xml

private

   use Interfaces.C;

   --  The record z_stream of zlib.h

   type Stream is record
      Next_In   : System.Address := System.Null_Address;
      Avail_In  : unsigned       := 0;
      Total_In  : unsigned_long  := 0;
      Next_Out  : System.Address := System.Null_Address;
      Avail_Out : unsigned       := 0;
      Total_Out : unsigned_long  := 0;
      Message   : System.Address := System.Null_Address;
      State     : System.Address := System.Null_Address;
      Allocate  : System.Address := System.Null_Address;
      Free      : System.Address := System.Null_Address;
      Opaque    : System.Address := System.Null_Address;
      Data_Type : int            := 0;
      Adler     : unsigned_long  := 0;
      Reserved  : unsigned_long  := 0;
   end record
     with Convention => C;

   Memory_Size : constant := 400_000;
   --  The memory of a compressor in bytes, enough for deflateInit2 with a window of 32 KiB: 262,144
   --  bytes plus zlib's own record (zconf.h), and a reserve for future versions

   type Memory is array (size_t range <>) of unsigned_char with Alignment => 16;

   type Arena is limited record
      Used  : size_t := 0;
      Bytes : Memory (1 .. Memory_Size);
   end record;

   type Compressor_State is (Unused, Ready, Broken);

   type Compressor is limited record
      Stream : aliased Compression.Stream;
      State  : Compressor_State := Unused;
      Arena  : aliased Compression.Arena;
      Output : String (1 .. Max_Output_Length);
   end record;

   type Flags is array (Positive range <>) of Boolean;

   protected type Reserve (Count : Positive) is
      procedure Get (Index : out Natural);
      --  Reserves a free compressor. Sets Index to 0 if all compressors are in use.
      procedure Release (Index : Positive);
   private
      In_Use : Flags (1 .. Count) := [others => False];
   end Reserve;

   type Compressor_Array is array (Positive range <>) of aliased Compressor;

   type Gzip_Filter
     (Next : not null Services.Service_Reference; Compressors : Positive) is
     limited new Filters.Filter (Next) with record
      Reserve : Compression.Reserve (Compressors);
      Each    : Compressor_Array (1 .. Compressors);
   end record;

end Appserver.HTTP.Compression;
