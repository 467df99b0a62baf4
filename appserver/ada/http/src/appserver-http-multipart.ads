--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Parses the forms with files that browsers send (multipart/form-data: RFC 7578, RFC 2046, 5.1),
--  as the content arrives. A reader is a content receiver. Derive a type from Reader to handle the
--  parts:
--
--     type Gallery_Upload is limited new HTTP.Multipart.Reader (Header_Capacity => 2_048) with …
--
--     overriding procedure Begin_Part (Self : in out Gallery_Upload);
--     overriding procedure Receive_Part (Self : in out Gallery_Upload; Bytes : String);
--     overriding procedure End_Part (Self : in out Gallery_Upload);
--     overriding function Respond
--       (Self : in out Gallery_Upload; Request : HTTP.Request) return HTTP.Response is
--       (if Self.Result /= HTTP.Multipart.Complete
--        then HTTP.Status_Only (HTTP.Multipart.Status_Of (Self.Result)) else …);
--
--  The server calls Respond at the end of the content, or as soon as the content is malformed. A
--  reader stores the header of one part, uses no heap memory, and takes linear time.

pragma Ada_2022;

with Appserver.HTTP.Services;

package Appserver.HTTP.Multipart is

   pragma Assertion_Policy (Pre => Check, Pre'Class => Check);

   type Outcome is (Incomplete, Complete, Not_A_Form, Malformed, Too_Many_Parts, Header_Too_Long);
   --  The result of reading. Incomplete means that the end of the content is missing. Not_A_Form
   --  means that the request's Content-Type is not multipart/form-data.

   function Status_Of (Result : Outcome) return Status_Code is
     (case Result is
         when Complete                         => OK,
         when Not_A_Form                       => Unsupported_Media_Type,
         when Incomplete | Malformed           => Bad_Request,
         when Too_Many_Parts | Header_Too_Long => Content_Too_Large);
   --  @param Result an outcome
   --  @return the status code for the response

   type Reader (Header_Capacity : Positive) is
     abstract limited new Services.Content_Receiver with private;
   --  Reads the parts of multipart/form-data. Header_Capacity is the maximum length of a part's
   --  header in bytes.

   procedure Begin_Part (Self : in out Reader) is abstract;
   --  Begins a part; called after its header. Name, File_Name and Media_Type describe the part.
   --  @param Self the reader

   procedure Receive_Part (Self : in out Reader; Bytes : String) is abstract;
   --  Receives the next bytes of the part.
   --  @param Self the reader
   --  @param Bytes the next bytes

   procedure End_Part (Self : in out Reader) is abstract;
   --  Ends a part; called after its last byte.
   --  @param Self the reader

   procedure Start
     (Self : in out Reader'Class; Request : HTTP.Request; Max_Parts : Positive := 100);
   --  Prepares the reader for a request. A service calls this procedure in Policy_For, or before it
   --  passes buffered content to Receive.
   --  @param Self the reader
   --  @param Request the request
   --  @param Max_Parts the maximum number of parts

   overriding procedure Receive
     (Self : in out Reader; Bytes : String; Wants_More : in out Boolean);
   --  Parses the next bytes of the content.
   --  @param Self the reader
   --  @param Bytes the next bytes
   --  @param Wants_More set to False after an error

   function Result (Self : Reader) return Outcome;
   --  @param Self the reader
   --  @return the outcome so far

   --  Properties of the current part, which are valid until the next part begins. Their values may
   --  contain any bytes except control characters. Percent-encoding (RFC 7578, 2) is not decoded.

   function Name (Self : Reader) return String;
   --  @param Self the reader
   --  @return the name of the part

   function Has_File_Name (Self : Reader) return Boolean;
   --  @param Self the reader
   --  @return True if the part has a file name

   function File_Name (Self : Reader) return String;
   --  @param Self the reader
   --  @return the file name that the client sent. Do not use it as a path.

   function Media_Type (Self : Reader) return String;
   --  @param Self the reader
   --  @return the media type; "text/plain" if the part has none (RFC 7578, 4.4)

private

   Max_Boundary_Length : constant := 70;
   --  The maximum length of a boundary (RFC 2046, 5.1.1)

   type Reader_State is
     (In_Preamble, Behind_Boundary, Behind_Dash, In_Padding, Before_Line_Feed, In_Header, In_Part,
      In_Epilogue, Ended);

   type Reader (Header_Capacity : Positive) is
     abstract limited new Services.Content_Receiver with record
      State        : Reader_State := Ended;
      Result       : Outcome := Not_A_Form;
      Max_Parts    : Positive := 1;
      Part_Count   : Natural := 0;
      Delimiter    : String (1 .. Max_Boundary_Length + 4);
      --  The delimiter between parts, including the line end before the boundary
      Size         : Natural := 0;
      --  The length of Delimiter
      Matched      : Natural := 0;
      --  The number of bytes of Delimiter that match the latest bytes of the content
      Unsent_First : Positive := 1;
      --  The first matched byte of Delimiter that becomes content if the rest of the delimiter does
      --  not follow. A line end that belongs to the header is not content.
      Header_Last  : Natural := 0;
      Line_First   : Positive := 1;
      --  The beginning of the current line in Header
      Has_Name     : Boolean := False;
      Has_File     : Boolean := False;
      Has_Type     : Boolean := False;
      Name_Part    : Span;
      File_Part    : Span;
      Type_Part    : Span;
      Header       : String (1 .. Header_Capacity);
   end record;

   function Result (Self : Reader) return Outcome is (Self.Result);
   function Name (Self : Reader) return String is
     (Self.Header (Self.Name_Part.First .. Self.Name_Part.Last));
   function Has_File_Name (Self : Reader) return Boolean is (Self.Has_File);
   function File_Name (Self : Reader) return String is
     (Self.Header (Self.File_Part.First .. Self.File_Part.Last));
   function Media_Type (Self : Reader) return String is
     (if Self.Has_Type then Self.Header (Self.Type_Part.First .. Self.Type_Part.Last)
      else "text/plain");

end Appserver.HTTP.Multipart;
