--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Names of constant number for what a server is asked: routes for paths, statements without their
--  values.

pragma Ada_2022;

with Interfaces;

package Appserver.Folded_Names with Preelaborate is

   Max_Length : constant := 128;
   --  Bytes of a page's name; a longer one is cut

   type Page_Name is limited private;

   procedure Set (Self : out Page_Name; Name : String);

   procedure Set_Route (Self : out Page_Name; Method, Path : String);
   --  Such as "GET /users/{id}". A segment of the path is a variable if it has a digit, and
   --  consists of digits, dots and dashes, or of 8 and more hexadecimal digits and dashes, or of 16
   --  and more characters.

   function Is_Empty (Self : Page_Name) return Boolean;
   function Text (Self : Page_Name) return String;
   function Hash (Self : Page_Name) return Interfaces.Unsigned_64;

   procedure Clear (Self : out Page_Name)
     with Post => Is_Empty (Self);

   Max_Query_Length : constant := 500;

   function Query (Text : String) return String
     with Post => Query'Result'Length <= Max_Query_Length;
   --  Each literal and parameter as "?", lists of them as "?, ...", blanks and comments as one
   --  space; what is longer is cut

   function Hash (Text : String) return Interfaces.Unsigned_64;
   --  The hash of a Page_Name with the same text

private

   Room : constant := Max_Length + 8;
   --  Whole words, for the hash

   type Page_Name is limited record
      Length : Natural range 0 .. Max_Length;
      Text   : String (1 .. Room);
   end record
     with Alignment => 8;

   for Page_Name use record
      Length at 0 range 0 .. 63;
      Text   at 8 range 0 .. Room * 8 - 1;
   end record;

   function Is_Empty (Self : Page_Name) return Boolean is (Self.Length = 0);
   function Text (Self : Page_Name) return String is (Self.Text (1 .. Self.Length));

end Appserver.Folded_Names;
