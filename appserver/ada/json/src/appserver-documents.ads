--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Writes documents, entity by entity, as JSON or as XML 1.0. A program describes a document once,
--  and the client chooses the format.
--
--     JSON  {"greeting":"Hello!","tags":["a","b"]}
--     XML   <?xml version="1.0" encoding="UTF-8"?><document><greeting>Hello!</greeting><tags>
--           <item>a</item><item>b</item></tags></document>
--
--  A writer stores only the names of the open entities and lists, and uses no heap memory.

pragma Ada_2022;

with Appserver.JSON.Writers;
with Appserver.Text_Sinks;
with Interfaces;

package Appserver.Documents is

   use Appserver.Text_Sinks;

   --  Preconditions are checked in every build, since the exceptions that they raise are part of
   --  the contract
   pragma Assertion_Policy (Pre => Check);

   subtype Integer_64 is Interfaces.Integer_64;

   type Format is (As_JSON, As_XML);

   function Media_Type (Form : Format) return String is
     (case Form is
         when As_JSON => "application/json",
         when As_XML  => "application/xml");
   --  @param Form the format
   --  @return the media type

   -------------------------
   -- Content negotiation --
   -------------------------

   type Choice (Is_Possible : Boolean := True) is record
      case Is_Possible is
         when True  => Form : Format;
         when False => null;
      end case;
   end record;

   function Chosen (Accepted : String) return Choice with Inline;
   --  Chooses a format based on the header field Accept (RFC 9110, section 12.5.1).
   --  @param Accepted the value of the field; may be empty
   --  @return the format with the higher weight; JSON if both formats have the same weight or the
   --  field is empty. If neither format is acceptable, Is_Possible is False; the server should then
   --  respond with 406.

   -----------
   -- Names --
   -----------

   Max_Name_Length : constant := 64;

   function Is_Name (Text : String) return Boolean;
   --  Checks the name of an entity. A name starts with a letter or "_", followed by letters,
   --  digits, and the characters "_", "-" and ".", so it is also valid in XML.
   --  @param Text the name
   --  @return True if it is valid

   Room_For_Names : constant := 1_024;
   --  The capacity for the names of open entities and lists, in bytes

   ------------
   -- Writer --
   ------------

   type Writer
     (To   : not null access Text_Sink'Class;
      Form : Format) is tagged limited private;
   --  Writes one document. Texts must be UTF-8; invalid bytes are written as U+FFFD. In XML,
   --  characters that XML 1.0 does not allow are also written as U+FFFD.

   function Depth (Self : Writer) return Natural;
   --  @param Self the writer
   --  @return the number of open documents, entities and lists

   function Is_In_Entity (Self : Writer) return Boolean;
   --  @param Self the writer
   --  @return True if the innermost open element is the document or an entity, so the next item
   --  needs a name

   function Is_In_List (Self : Writer) return Boolean;
   --  @param Self the writer
   --  @return True if the innermost open element is a list, so the next item has no name

   function Is_Complete (Self : Writer) return Boolean;
   --  @param Self the writer
   --  @return True after End_Document

   function Can_Open (Self : Writer; Name, Each : String := "") return Boolean;
   --  @param Self the writer
   --  @param Name the name of an entity or a list
   --  @param Each the name of the list's items in XML
   --  @return True if the writer has room for these names

   procedure Start_Document (Self : in out Writer)
     with Pre  => (Self.Depth = 0 and then not Self.Is_Complete)
                  or else raise Misuse_Error with "the document has already been started",
          Post => Self.Is_In_Entity;
   --  Starts the document. In XML, the name of the root element is "document".
   --  @param Self the writer

   procedure Start_Document (Self : in out Writer; Name : String)
     with Pre  => (Self.Depth = 0 and then not Self.Is_Complete and then Is_Name (Name))
                  or else raise Misuse_Error with
                    "the document has already been started, or its name is invalid",
          Post => Self.Is_In_Entity;
   --  Starts the document.
   --  @param Self the writer
   --  @param Name the name of the root element in XML

   procedure End_Document (Self : in out Writer)
     with Pre  => Self.Depth = 1
                  or else raise Misuse_Error with
                    "the document is not open, or has an open entity or list",
          Post => Self.Is_Complete;
   --  Ends the document.
   --  @param Self the writer

   --  Procedures that write items with a name, in the document or in an entity. In XML, a null is
   --  written as xsi:nil.

   procedure Write_Entity (Self : in out Writer; Name, Value : String)
     with Pre => (Self.Is_In_Entity and then Is_Name (Name))
                 or else raise Misuse_Error with "not in an entity, or the name is invalid";
   procedure Write_Entity (Self : in out Writer; Name : String; Value : Integer_64)
     with Pre => (Self.Is_In_Entity and then Is_Name (Name))
                 or else raise Misuse_Error with "not in an entity, or the name is invalid";
   procedure Write_Entity (Self : in out Writer; Name : String; Value : Long_Float)
     with Pre => (Self.Is_In_Entity and then Is_Name (Name) and then Value'Valid)
                 or else raise Misuse_Error with
                   "not in an entity, or the name or the value is invalid";
   procedure Write_Entity (Self : in out Writer; Name : String; Value : Boolean)
     with Pre => (Self.Is_In_Entity and then Is_Name (Name))
                 or else raise Misuse_Error with "not in an entity, or the name is invalid";
   --  Writes an entity with a value.
   --  @param Self the writer
   --  @param Name the name of the entity
   --  @param Value the value

   procedure Write_Null (Self : in out Writer; Name : String)
     with Pre => (Self.Is_In_Entity and then Is_Name (Name))
                 or else raise Misuse_Error with "not in an entity, or the name is invalid";
   --  Writes an entity that is null.
   --  @param Self the writer
   --  @param Name the name of the entity

   procedure Start_Entity (Self : in out Writer; Name : String)
     with Pre  => (Self.Is_In_Entity and then Is_Name (Name) and then Self.Can_Open (Name))
                  or else raise Misuse_Error with
                    "not in an entity, the name is invalid, or there is no room",
          Post => Self.Is_In_Entity and Self.Depth = Self.Depth'Old + 1;
   --  Starts an entity that has items.
   --  @param Self the writer
   --  @param Name the name of the entity

   procedure Start_List (Self : in out Writer; Name : String; Each : String := "item")
     with Pre  => (Self.Is_In_Entity and then Is_Name (Name) and then Is_Name (Each)
                   and then Self.Can_Open (Name, Each))
                  or else raise Misuse_Error with
                    "not in an entity, a name is invalid, or there is no room",
          Post => Self.Is_In_List and Self.Depth = Self.Depth'Old + 1;
   --  Starts a list.
   --  @param Self the writer
   --  @param Name the name of the list
   --  @param Each the name of the elements in XML

   --  Procedures that write items without a name, in a list

   procedure Write_Item (Self : in out Writer; Value : String)
     with Pre => Self.Is_In_List or else raise Misuse_Error with "not in a list";
   procedure Write_Item (Self : in out Writer; Value : Integer_64)
     with Pre => Self.Is_In_List or else raise Misuse_Error with "not in a list";
   procedure Write_Item (Self : in out Writer; Value : Long_Float)
     with Pre => (Self.Is_In_List and then Value'Valid)
                 or else raise Misuse_Error with "not in a list, or the value is invalid";
   procedure Write_Item (Self : in out Writer; Value : Boolean)
     with Pre => Self.Is_In_List or else raise Misuse_Error with "not in a list";
   --  Writes an item with a value.
   --  @param Self the writer
   --  @param Value the value

   procedure Write_Null_Item (Self : in out Writer)
     with Pre => Self.Is_In_List or else raise Misuse_Error with "not in a list";
   --  Writes an item that is null.
   --  @param Self the writer

   procedure Start_Item (Self : in out Writer)
     with Pre  => (Self.Is_In_List and then Self.Can_Open)
                  or else raise Misuse_Error with "not in a list, or there is no room",
          Post => Self.Is_In_Entity and Self.Depth = Self.Depth'Old + 1;
   --  Starts an item that is an entity.
   --  @param Self the writer

   procedure Start_Item_List (Self : in out Writer; Each : String := "item")
     with Pre  => (Self.Is_In_List and then Is_Name (Each) and then Self.Can_Open ("", Each))
                  or else raise Misuse_Error with
                    "not in a list, the name is invalid, or there is no room",
          Post => Self.Is_In_List and Self.Depth = Self.Depth'Old + 1;
   --  Starts an item that is a list.
   --  @param Self the writer
   --  @param Each the name of the elements in XML

   procedure End_Entity (Self : in out Writer)
     with Pre  => (Self.Is_In_Entity and then Self.Depth > 1)
                  or else raise Misuse_Error with "not in an entity",
          Post => Self.Depth = Self.Depth'Old - 1;
   --  Ends the innermost entity.
   --  @param Self the writer

   procedure End_List (Self : in out Writer)
     with Pre  => Self.Is_In_List or else raise Misuse_Error with "not in a list",
          Post => Self.Depth = Self.Depth'Old - 1;
   --  Ends the innermost list.
   --  @param Self the writer

private

   --  The names of open entities and lists are stored consecutively. A list has two names: its own
   --  name, and the name of its items.

   type Name_Range is record
      First : Positive;
      Last  : Natural;
   end record;
   --  A range of characters in Names. Its components have no initial values. This saves time, since
   --  a writer is created for each document.

   type Part_Kind is (Entity, List);

   type Open_Part is record
      Kind  : Part_Kind;
      Name  : Name_Range;
      Each  : Name_Range;
      Below : Natural;
      --  The number of bytes used by the names of the enclosing elements
   end record;

   type Open_Parts is array (1 .. JSON.Deepest) of Open_Part;

   type Writer
     (To   : not null access Text_Sink'Class;
      Form : Format) is tagged limited
   record
      JSON     : Appserver.JSON.Writers.Writer (To);
      Complete : Boolean := False;
      Depth    : Natural := 0;
      Parts    : Open_Parts;
      Used     : Natural := 0;
      Names    : String (1 .. Room_For_Names);
   end record;

   function Depth (Self : Writer) return Natural is (Self.Depth);

   function Is_In_List (Self : Writer) return Boolean is
     (Self.Depth > 0 and then Self.Parts (Self.Depth).Kind = List);

   function Is_In_Entity (Self : Writer) return Boolean is
     (Self.Depth > 0 and then Self.Parts (Self.Depth).Kind = Entity);

   function Is_Complete (Self : Writer) return Boolean is (Self.Complete);

   function Can_Open (Self : Writer; Name, Each : String := "") return Boolean is
     (Self.Depth < Appserver.JSON.Deepest
      and then Self.Used + Name'Length + Each'Length <= Room_For_Names);

end Appserver.Documents;
