--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Bounded sets of names for requests and statements: routes for paths, and statements without
--  their values.

pragma Ada_2022;

with Interfaces;

package Appserver.Folded_Names with Preelaborate is

   Max_Length : constant := 128;
   --  The maximum length of a page's name in bytes; longer names are truncated

   type Page_Name is limited private;

   procedure Set (Self : out Page_Name; Name : String);
   --  Sets a name.
   --  @param Self the name
   --  @param Name its text

   procedure Set_Route (Self : out Page_Name; Method, Path : String);
   --  Sets a name such as "GET /users/{id}". A segment of the path is a variable if it has a digit,
   --  and consists of digits, dots and dashes, or of 8 and more hexadecimal digits and dashes, or
   --  of 16 and more characters.
   --  @param Self the name
   --  @param Method the method
   --  @param Path the path

   function Is_Empty (Self : Page_Name) return Boolean;
   --  @param Self the name
   --  @return True if it is empty

   function Text (Self : Page_Name) return String;
   --  @param Self the name
   --  @return its text

   function Hash (Self : Page_Name) return Interfaces.Unsigned_64;
   --  @param Self the name
   --  @return its hash

   procedure Clear (Self : out Page_Name)
     with Post => Is_Empty (Self);
   --  Sets an empty name.
   --  @param Self the name

   Max_Query_Length : constant := 500;

   function Query (Text : String) return String
     with Post => Query'Result'Length <= Max_Query_Length;
   --  Folds an SQL statement: each literal and parameter becomes "?", a list of them "?, ...", and
   --  white space and comments one space. The result is truncated.
   --  @param Text the statement
   --  @return its name

   function Hash (Text : String) return Interfaces.Unsigned_64;
   --  @param Text a text
   --  @return the hash of a Page_Name with that text

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
