--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

pragma Ada_2022;

with Appserver.Media_Ranges;
with Appserver.Numerals;
with Appserver.UTF_8;

package body Appserver.Documents is

   use type UTF_8.Code_Point;

   -------------------------
   -- Content negotiation --
   -------------------------

   function Weighed (Accepted : String) return Choice is
      JSON : constant Media_Ranges.Weight :=
        Media_Ranges.Weight_Of (Accepted, "application", "json");
      XML  : constant Media_Ranges.Weight :=
        Media_Ranges.Weight_Of (Accepted, "application", "xml");
   begin
      return
        (if JSON = 0 and then XML = 0 then (Is_Possible => False)
         elsif JSON >= XML then (True, As_JSON)
         else (True, As_XML));
   end Weighed;

   --  Handles the most frequent values quickly: clients that accept any format

   function Chosen (Accepted : String) return Choice is
     (if Accepted = "" or else Accepted = "*/*" then (True, As_JSON) else Weighed (Accepted));

   -----------
   -- Names --
   -----------

   --  XML names, without the colon, which is for namespaces, and without non-ASCII letters

   Is_In_Names : constant array (Character) of Boolean :=
     ['A' .. 'Z' | 'a' .. 'z' | '0' .. '9' | '_' | '-' | '.' => True, others => False];

   function Is_Name (Text : String) return Boolean is
     (Text'Length in 1 .. Max_Name_Length
      and then Text (Text'First) in 'A' .. 'Z' | 'a' .. 'z' | '_'
      and then (for all C of Text => Is_In_Names (C)));

   ---------
   -- XML --
   ---------

   procedure Put_Tag (To : in out Text_Sink'Class; Before, Name, After : String) is
   begin
      To.Append (Before);
      To.Append (Name);
      To.Append (After);
   end Put_Tag;

   --  The characters of XML 1.0, section 2.2

   function Is_Character (Value : UTF_8.Code_Point) return Boolean is
     (Value in 16#9# | 16#A# | 16#D# | 16#20# .. 16#D7FF# | 16#E000# .. 16#FFFD#
        | 16#1_0000# .. 16#10_FFFF#);

   procedure Append_XML (To : in out Text_Sink'Class; Text : String) is

      Done   : Natural := 0;
      Next   : Natural := 0;
      --  The number of bytes that have been written, and that have been checked
      Length : UTF_8.Sequence_Length;

      procedure Flush is
      begin
         if Next > Done then
            To.Append (Text (Text'First + Done .. Text'First - 1 + Next));
         end if;
      end Flush;

      procedure Replace (By : String; Length : Positive := 1) is
      begin
         Flush;
         To.Append (By);
         Next := Next + Length;
         Done := Next;
      end Replace;

   begin
      while Next < Text'Length loop
         case Text (Text'First + Next) is
            when '&'      => Replace ("&amp;");
            when '<'      => Replace ("&lt;");
            when '>'      => Replace ("&gt;");
            when ASCII.CR => Replace ("&#13;");
            when others   =>
               Length := UTF_8.Length_At (Text, Text'First + Next);
               if Length = 0 then
                  Replace (UTF_8.Replacement);
               elsif Is_Character (UTF_8.Value_At (Text, Text'First + Next)) then
                  Next := Next + Length;
               else
                  Replace (UTF_8.Replacement, Length);
               end if;
         end case;
      end loop;
      Flush;
   end Append_XML;

   procedure Append_XML (To : in out Text_Sink'Class; Value : Boolean) is
   begin
      To.Append (if Value then "true" else "false");
   end Append_XML;

   ------------
   -- Values --
   ------------

   --  Writes a value of any type. In a list, the name is the name of the list's items, which is not
   --  written in JSON.

   generic
      type Data (<>) is private;
      with procedure Put_JSON (To : in out JSON.Writers.Writer; Value : Data);
      with procedure Put_XML (To : in out Text_Sink'Class; Value : Data);
   procedure Put_Value (Self : in out Writer; Name : String; Value : Data) with Inline;

   procedure Put_Value (Self : in out Writer; Name : String; Value : Data) is
   begin
      case Self.Form is
         when As_JSON =>
            if Self.Is_In_Entity then
               Self.JSON.Write_Name (Name);
            end if;
            Put_JSON (Self.JSON, Value);
         when As_XML =>
            Put_Tag (Self.To.all, "<", Name, ">");
            Put_XML (Self.To.all, Value);
            Put_Tag (Self.To.all, "</", Name, ">");
      end case;
   end Put_Value;

   procedure Put is new Put_Value (String, JSON.Writers.Write, Append_XML);
   procedure Put is new Put_Value (Integer_64, JSON.Writers.Write, Numerals.Append);
   procedure Put is new Put_Value (Long_Float, JSON.Writers.Write, Numerals.Append);
   procedure Put is new Put_Value (Boolean, JSON.Writers.Write, Append_XML);

   procedure Put_Null (Self : in out Writer; Name : String) is
   begin
      case Self.Form is
         when As_JSON =>
            if Self.Is_In_Entity then
               Self.JSON.Write_Name (Name);
            end if;
            Self.JSON.Write_Null;
         when As_XML =>
            Put_Tag
              (Self.To.all, "<", Name,
               " xmlns:xsi=""http://www.w3.org/2001/XMLSchema-instance"" xsi:nil=""true""/>");
      end case;
   end Put_Null;

   --  Returns the name of the items of the innermost list

   function Item_Name (Self : Writer) return String is
     (Self.Names (Self.Parts (Self.Depth).Each.First .. Self.Parts (Self.Depth).Each.Last))
     with Inline;

   procedure Write_Entity (Self : in out Writer; Name, Value : String) is
   begin
      Put (Self, Name, Value);
   end Write_Entity;

   procedure Write_Entity (Self : in out Writer; Name : String; Value : Integer_64) is
   begin
      Put (Self, Name, Value);
   end Write_Entity;

   procedure Write_Entity (Self : in out Writer; Name : String; Value : Long_Float) is
   begin
      Put (Self, Name, Value);
   end Write_Entity;

   procedure Write_Entity (Self : in out Writer; Name : String; Value : Boolean) is
   begin
      Put (Self, Name, Value);
   end Write_Entity;

   procedure Write_Null (Self : in out Writer; Name : String) is
   begin
      Put_Null (Self, Name);
   end Write_Null;

   procedure Write_Item (Self : in out Writer; Value : String) is
   begin
      Put (Self, Item_Name (Self), Value);
   end Write_Item;

   procedure Write_Item (Self : in out Writer; Value : Integer_64) is
   begin
      Put (Self, Item_Name (Self), Value);
   end Write_Item;

   procedure Write_Item (Self : in out Writer; Value : Long_Float) is
   begin
      Put (Self, Item_Name (Self), Value);
   end Write_Item;

   procedure Write_Item (Self : in out Writer; Value : Boolean) is
   begin
      Put (Self, Item_Name (Self), Value);
   end Write_Item;

   procedure Write_Null_Item (Self : in out Writer) is
   begin
      Put_Null (Self, Item_Name (Self));
   end Write_Null_Item;

   ------------------------
   -- Entities and lists --
   ------------------------

   --  Names are also stored for JSON, so that the capacity does not depend on the format that the
   --  client chooses. Only XML needs them, for end tags.

   procedure Keep (Self : in out Writer; Name : String; Kept : out Name_Range)
     with Inline
   is
   begin
      Kept := (Self.Used + 1, Self.Used + Name'Length);
      Self.Used := Kept.Last;
      if Self.Form = As_XML then
         Self.Names (Kept.First .. Kept.Last) := Name;
      end if;
   end Keep;

   procedure Open (Self : in out Writer; Name : String; Part : Open_Part)
     with Inline
   is
   begin
      case Self.Form is
         when As_JSON =>
            if Self.Is_In_Entity then
               Self.JSON.Write_Name (Name);
            end if;
            case Part.Kind is
               when Entity => Self.JSON.Start_Object;
               when List   => Self.JSON.Start_Array;
            end case;
         when As_XML =>
            Put_Tag (Self.To.all, "<", Name, ">");
      end case;
      Self.Depth := Self.Depth + 1;
      Self.Parts (Self.Depth) := Part;
   end Open;

   procedure Close (Self : in out Writer) with Inline is
      Part : constant Open_Part := Self.Parts (Self.Depth);
   begin
      case Self.Form is
         when As_JSON =>
            case Part.Kind is
               when Entity => Self.JSON.End_Object;
               when List   => Self.JSON.End_Array;
            end case;
         when As_XML =>
            Put_Tag (Self.To.all, "</", Self.Names (Part.Name.First .. Part.Name.Last), ">");
      end case;
      Self.Used  := Part.Below;
      Self.Depth := Self.Depth - 1;
   end Close;

   procedure Start_Part (Self : in out Writer; Kind : Part_Kind; Name, Each : String := "") is
      Part : Open_Part;
   begin
      Part.Kind  := Kind;
      Part.Below := Self.Used;
      Keep (Self, Name, Part.Name);
      Keep (Self, Each, Part.Each);
      Open (Self, Name, Part);
   end Start_Part;

   --  The name of an item is stored with its list

   procedure Start_Item_Part (Self : in out Writer; Kind : Part_Kind; Each : String := "") is
      Part : Open_Part;
   begin
      Part.Kind  := Kind;
      Part.Below := Self.Used;
      Part.Name  := Self.Parts (Self.Depth).Each;
      Keep (Self, Each, Part.Each);
      Open (Self, Self.Names (Part.Name.First .. Part.Name.Last), Part);
   end Start_Item_Part;

   procedure Start_Root (Self : in out Writer; Name : String) with Inline is
   begin
      if Self.Form = As_XML then
         Self.To.Append ("<?xml version=""1.0"" encoding=""UTF-8""?>");
      end if;
      Start_Part (Self, Entity, Name);
   end Start_Root;

   procedure Start_Document (Self : in out Writer) is
   begin
      Start_Root (Self, "document");
   end Start_Document;

   procedure Start_Document (Self : in out Writer; Name : String) is
   begin
      Start_Root (Self, Name);
   end Start_Document;

   procedure End_Document (Self : in out Writer) is
   begin
      Close (Self);
      Self.Complete := True;
   end End_Document;

   procedure Start_Entity (Self : in out Writer; Name : String) is
   begin
      Start_Part (Self, Entity, Name);
   end Start_Entity;

   procedure Start_List (Self : in out Writer; Name : String; Each : String := "item") is
   begin
      Start_Part (Self, List, Name, Each);
   end Start_List;

   procedure Start_Item (Self : in out Writer) is
   begin
      Start_Item_Part (Self, Entity);
   end Start_Item;

   procedure Start_Item_List (Self : in out Writer; Each : String := "item") is
   begin
      Start_Item_Part (Self, List, Each);
   end Start_Item_List;

   procedure End_Entity (Self : in out Writer) is
   begin
      Close (Self);
   end End_Entity;

   procedure End_List (Self : in out Writer) is
   begin
      Close (Self);
   end End_List;

end Appserver.Documents;
