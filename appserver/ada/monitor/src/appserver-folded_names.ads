--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Maps requests and statements to a small number of names: a path to a route without IDs, and an
--  SQL statement to a statement without literals.

pragma Ada_2022;

with Interfaces;

package Appserver.Folded_Names with Preelaborate is

   Max_Length : constant := 128;
   --  The maximum length of a page's name in bytes. Longer names are truncated.

   type Page_Name is limited private;

   procedure Set (Self : out Page_Name; Name : String);
   --  Replaces the text of a page name. Text beyond Max_Length bytes is dropped.
   --  @param Self the page name to change
   --  @param Name the new text, used as is

   procedure Set_Route (Self : out Page_Name; Method, Path : String);
   --  Sets a name such as "GET /users/{id}". A path segment is treated as a variable if it contains
   --  a digit and meets one of three conditions: it contains only digits, dots and dashes; it has
   --  at least 8 characters, all of them hexadecimal digits or dashes; or it has at least 16
   --  characters.
   --  @param Self the name
   --  @param Method the method
   --  @param Path the path

   function Is_Empty (Self : Page_Name) return Boolean;
   --  @param Self the name
   --  @return True if the name is empty

   function Text (Self : Page_Name) return String;
   --  @param Self the name
   --  @return the text of the name

   function Hash (Self : Page_Name) return Interfaces.Unsigned_64;
   --  @param Self the name
   --  @return the hash of the name

   procedure Clear (Self : out Page_Name)
     with Post => Is_Empty (Self);
   --  Sets the name to the empty text.
   --  @param Self the name

   Max_Query_Length : constant := 500;

   type Text_Rules is record
      Has_Backslash_Escapes   : Boolean := False;
      --  A backslash in a text literal escapes the next character. In E'…' it always does.
      Has_Double_Quoted_Texts : Boolean := False;
      --  "…" is a text literal, and not a name
      Has_Hash_Comments       : Boolean := False;
      --  # begins a comment that ends at the end of the line
   end record;
   --  The rules of a database for the texts of statements. The default is that of standard SQL and
   --  SQLite.

   function Query (Text : String; Rules : Text_Rules := (others => <>)) return String
     with Post => Query'Result'Length <= Max_Query_Length;
   --  Normalizes an SQL statement: replaces each literal and parameter with "?", each list of
   --  literals or parameters with "?, ...", and each sequence of white space and comments with one
   --  space. Literals include E'…' and $tag$…$tag$ of PostgreSQL. Truncates the result to
   --  Max_Query_Length bytes.
   --  @param Text the statement
   --  @param Rules the rules for the text
   --  @return the name of the query

   function Hash (Text : String) return Interfaces.Unsigned_64;
   --  @param Text a text
   --  @return the hash of the text, which is equal to the Hash of a Page_Name with the same text

private

   Room : constant := Max_Length + 8;
   --  The size of the text's buffer in bytes. The hash requires a multiple of the word size.

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
