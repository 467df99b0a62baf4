--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Forms with files, as browsers send them: multipart/form-data (RFC 7578, RFC 2046, 5.1), read as
--  they come. A reader is a receiver of content; a type derived from it is told of each part:
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
--  What is malformed ends the reading, and Respond is called next. Memory is that of a part's
--  header; nothing is taken from the heap, and the time is linear in the length.

pragma Ada_2022;

with Appserver.HTTP.Services;

package Appserver.HTTP.Multipart is

   pragma Assertion_Policy (Pre => Check, Pre'Class => Check);

   type Outcome is (Incomplete, Complete, Not_A_Form, Malformed, Too_Many_Parts, Header_Too_Long);
   --  Incomplete: the end is not there. Not_A_Form: by its Content-Type.

   function Status_Of (Result : Outcome) return Status_Code is
     (case Result is
         when Complete                         => OK,
         when Not_A_Form                       => Unsupported_Media_Type,
         when Incomplete | Malformed           => Bad_Request,
         when Too_Many_Parts | Header_Too_Long => Content_Too_Large);

   type Reader (Header_Capacity : Positive) is
     abstract limited new Services.Content_Receiver with private;
   --  Header_Capacity: bytes of the header of a part

   procedure Begin_Part (Self : in out Reader) is abstract;
   --  The header of a part is there: Name and what follows tell what it is

   procedure Receive_Part (Self : in out Reader; Bytes : String) is abstract;
   --  The next bytes of the part

   procedure End_Part (Self : in out Reader) is abstract;

   procedure Start
     (Self : in out Reader'Class; Request : HTTP.Request; Max_Parts : Positive := 100);
   --  To be called by a service's Policy_For, or before a content that is there as a whole is taken

   overriding procedure Receive
     (Self : in out Reader; Bytes : String; Wants_More : in out Boolean);

   function Result (Self : Reader) return Outcome;

   --  About the part that has begun, until the next one begins. The bytes can be any but control
   --  characters: what browsers escape with "%" (RFC 7578, 2) is left as it is.

   function Name (Self : Reader) return String;
   function Has_File_Name (Self : Reader) return Boolean;
   function File_Name (Self : Reader) return String;
   --  Sent by the client: not to be used as a path
   function Media_Type (Self : Reader) return String;
   --  "text/plain" if there is none (RFC 7578, 4.4)

private

   Max_Boundary_Length : constant := 70;
   --  RFC 2046, 5.1.1

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
      --  With the line end before the boundary
      Size         : Natural := 0;
      --  Length of Delimiter
      Matched      : Natural := 0;
      --  Bytes of Delimiter that came last
      Unsent_First : Positive := 1;
      --  The first of them that is content if it is not one: not a line end of the header
      Header_Last  : Natural := 0;
      Line_First   : Positive := 1;
      --  Index in Header
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
