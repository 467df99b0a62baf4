--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Writers of documents, entity by entity, as JSON or as XML 1.0: a program describes a document
--  once, and the client chooses the format.
--
--     JSON  {"greeting":"Hello!","tags":["a","b"]}
--     XML   <?xml version="1.0" encoding="UTF-8"?><document><greeting>Hello!</greeting><tags>
--           <item>a</item><item>b</item></tags></document>
--
--  A writer keeps nothing but the names of open entities and lists; it does not use the heap.

pragma Ada_2022;

with Appserver.JSON.Writers;
with Appserver.Text_Sinks;
with Interfaces;

package Appserver.Documents is

   use Appserver.Text_Sinks;

   --  Preconditions are checked in every build: the exception of a broken one is part of the
   --  contract.
   pragma Assertion_Policy (Pre => Check);

   subtype Integer_64 is Interfaces.Integer_64;

   type Format is (As_JSON, As_XML);

   function Media_Type (Form : Format) return String is
     (case Form is
         when As_JSON => "application/json",
         when As_XML  => "application/xml");

   ---------------------------
   -- What the client wants --
   ---------------------------

   type Choice (Is_Possible : Boolean := True) is record
      case Is_Possible is
         when True  => Form : Format;
         when False => null;
      end case;
   end record;

   function Chosen (Accepted : String) return Choice with Inline;
   --  Chosen by an Accept field (RFC 9110, section 12.5.1): the format with the greater weight, and
   --  JSON if both have the same weight or the field is missing or empty. If neither is acceptable,
   --  the status is 406.

   -----------
   -- Names --
   -----------

   Max_Name_Length : constant := 64;

   function Is_Name (Text : String) return Boolean;
   --  True if Text can name an entity, also in XML: a letter or _, then letters, digits, and _ - .

   Room_For_Names : constant := 1_024;
   --  Bytes for the names of open entities and lists

   ------------
   -- Writer --
   ------------

   type Writer
     (To   : not null access Text_Sink'Class;
      Form : Format) is tagged limited private;
   --  Texts have to be UTF-8. Invalid bytes, and in XML the characters that XML 1.0 does not have,
   --  are written as U+FFFD.

   function Depth (Self : Writer) return Natural;
   --  Documents, entities and lists that are open

   function Is_In_Entity (Self : Writer) return Boolean;
   --  The document, or an entity in it, is open: the next item needs a name

   function Is_In_List (Self : Writer) return Boolean;
   --  True if the next item is in a list, and so has no name

   function Is_Complete (Self : Writer) return Boolean;

   function Can_Open (Self : Writer; Name, Each : String := "") return Boolean;
   --  True if there is room for it

   procedure Start_Document (Self : in out Writer)
     with Pre  => Self.Depth = 0 and then not Self.Is_Complete,
          Post => Self.Is_In_Entity;
   procedure Start_Document (Self : in out Writer; Name : String)
     with Pre  => Self.Depth = 0 and then not Self.Is_Complete and then Is_Name (Name),
          Post => Self.Is_In_Entity;
   --  XML's root element has the name; without one it is "document"

   procedure End_Document (Self : in out Writer)
     with Pre  => Self.Depth = 1,
          Post => Self.Is_Complete;

   --  Items with a name, in the document or in an entity. A null is xsi:nil in XML.

   procedure Write_Entity (Self : in out Writer; Name, Value : String)
     with Pre => Self.Is_In_Entity and then Is_Name (Name);
   procedure Write_Entity (Self : in out Writer; Name : String; Value : Integer_64)
     with Pre => Self.Is_In_Entity and then Is_Name (Name);
   procedure Write_Entity (Self : in out Writer; Name : String; Value : Long_Float)
     with Pre => Self.Is_In_Entity and then Is_Name (Name) and then Value'Valid;
   procedure Write_Entity (Self : in out Writer; Name : String; Value : Boolean)
     with Pre => Self.Is_In_Entity and then Is_Name (Name);
   procedure Write_Null (Self : in out Writer; Name : String)
     with Pre => Self.Is_In_Entity and then Is_Name (Name);

   procedure Start_Entity (Self : in out Writer; Name : String)
     with Pre  => Self.Is_In_Entity and then Is_Name (Name) and then Self.Can_Open (Name),
          Post => Self.Is_In_Entity and Self.Depth = Self.Depth'Old + 1;

   procedure Start_List (Self : in out Writer; Name : String; Each : String := "item")
     with Pre  => Self.Is_In_Entity and then Is_Name (Name) and then Is_Name (Each)
                  and then Self.Can_Open (Name, Each),
          Post => Self.Is_In_List and Self.Depth = Self.Depth'Old + 1;
   --  XML's elements in it have the name Each

   --  Items without a name, in a list

   procedure Write_Item (Self : in out Writer; Value : String)
     with Pre => Self.Is_In_List;
   procedure Write_Item (Self : in out Writer; Value : Integer_64)
     with Pre => Self.Is_In_List;
   procedure Write_Item (Self : in out Writer; Value : Long_Float)
     with Pre => Self.Is_In_List and then Value'Valid;
   procedure Write_Item (Self : in out Writer; Value : Boolean)
     with Pre => Self.Is_In_List;
   procedure Write_Null_Item (Self : in out Writer)
     with Pre => Self.Is_In_List;

   procedure Start_Item (Self : in out Writer)
     with Pre  => Self.Is_In_List and then Self.Can_Open,
          Post => Self.Is_In_Entity and Self.Depth = Self.Depth'Old + 1;
   --  An entity

   procedure Start_Item_List (Self : in out Writer; Each : String := "item")
     with Pre  => Self.Is_In_List and then Is_Name (Each) and then Self.Can_Open ("", Each),
          Post => Self.Is_In_List and Self.Depth = Self.Depth'Old + 1;

   procedure End_Entity (Self : in out Writer)
     with Pre  => Self.Is_In_Entity and then Self.Depth > 1,
          Post => Self.Depth = Self.Depth'Old - 1;

   procedure End_List (Self : in out Writer)
     with Pre  => Self.Is_In_List,
          Post => Self.Depth = Self.Depth'Old - 1;

private

   --  Names of open entities and lists are stored one after the other. A list has two: its own, and
   --  one that its items share.

   type Name_Range is record
      First : Positive;
      Last  : Natural;
   end record;
   --  Without initial values: a writer is made for each document

   type Part_Kind is (Entity, List);

   type Open_Part is record
      Kind  : Part_Kind;
      Name  : Name_Range;
      Each  : Name_Range;
      Below : Natural;
      --  Bytes of the names of what it is in
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
