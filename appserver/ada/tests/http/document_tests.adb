--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

with Appserver.Documents;
with Appserver.Media_Ranges;
with Appserver.Text_Sinks;
with AUnit.Assertions;
with AUnit.Test_Caller;
with AUnit.Test_Fixtures;
with Dice;

package body Document_Tests is

   use Appserver;
   use Appserver.Documents;
   use AUnit.Assertions;
   use type Documents.Integer_64;

   type Fixture is new AUnit.Test_Fixtures.Test_Fixture with null record;

   Declaration : constant String := "<?xml version=""1.0"" encoding=""UTF-8""?>";

   type Document_Text is not null access procedure (Document : in out Writer);

   function Written (Form : Format; Write : Document_Text) return String is
      Buffer   : aliased Text_Sinks.Text_Buffer (10_000);
      Document : Writer (Buffer'Access, Form);
   begin
      Write (Document);
      Assert (Document.Is_Complete and then not Buffer.Is_Cut, "complete");
      return Buffer.Content;
   end Written;

   procedure Write_All_Kinds (Document : in out Writer) is
   begin
      Document.Start_Document ("all");
      Document.Write_Entity ("text", "a");
      Document.Write_Entity ("number", -17);
      Document.Write_Entity ("real", 12.5);
      Document.Write_Entity ("truth", True);
      Document.Write_Null ("none");
      Document.Start_Entity ("inner");
      Document.Start_Entity ("empty");
      Document.End_Entity;
      Document.End_Entity;
      Document.Start_List ("list");
      Document.Write_Item ("a");
      Document.Write_Item (1);
      Document.Write_Item (0.5);
      Document.Write_Item (False);
      Document.Write_Null_Item;
      Document.Start_Item;
      Document.Write_Entity ("b", 2);
      Document.End_Entity;
      Document.Start_Item_List (Each => "row");
      Document.Write_Item (3);
      Document.Start_Item_List (Each => "cell");
      Document.Write_Item (4);
      Document.End_List;
      Document.End_List;
      Document.Start_Item_List;
      Document.End_List;
      Document.End_List;
      Document.Start_List ("tags", Each => "tag");
      Document.Write_Item ("x");
      Document.End_List;
      Document.End_Document;
   end Write_All_Kinds;

   Nil : constant String :=
     " xmlns:xsi=""http://www.w3.org/2001/XMLSchema-instance"" xsi:nil=""true""/>";

   procedure Both_Formats (T : in out Fixture) is
      pragma Unreferenced (T);
   begin
      Assert
        (Written (As_JSON, Write_All_Kinds'Access),
         "{""text"":""a"",""number"":-17,""real"":12.5,""truth"":true,""none"":null,"
         & """inner"":{""empty"":{}},"
         & """list"":[""a"",1,0.5,false,null,{""b"":2},[3,[4]],[]],""tags"":[""x""]}",
         "JSON");
      Assert
        (Written (As_XML, Write_All_Kinds'Access),
         Declaration & "<all><text>a</text><number>-17</number><real>12.5</real>"
         & "<truth>true</truth><none" & Nil & "<inner><empty></empty></inner>"
         & "<list><item>a</item><item>1</item><item>0.5</item><item>false</item><item" & Nil
         & "<item><b>2</b></item><item><row>3</row><row><cell>4</cell></row></item>"
         & "<item></item></list><tags><tag>x</tag></tags></all>",
         "XML");
   end Both_Formats;

   procedure Write_Odd_Texts (Document : in out Writer) is

      procedure Put (Codes : String) is
      begin
         Document.Write_Entity ("t", Codes);
      end Put;

      function C (Code : Natural) return Character is (Character'Val (Code));
   begin
      Document.Start_Document;
      Put ("<a href=""x"">&amp;</a> ]]>");
      Put ("1" & ASCII.HT & "2" & ASCII.LF & "3" & ASCII.CR & "4");
      Put (ASCII.NUL & "x" & ASCII.ESC);
      Put ([C (16#C3#), C (16#A9#), C (16#FF#), C (16#C3#)]);
      Put ([C (16#EF#), C (16#BF#), C (16#BF#), C (16#EF#), C (16#BF#), C (16#BD#)]);
      Document.End_Document;
   end Write_Odd_Texts;

   --  A document is well-formed for any text

   procedure Texts_Are_Escaped (T : in out Fixture) is
      pragma Unreferenced (T);

      U_FFFD : constant String :=
        Character'Val (16#EF#) & Character'Val (16#BF#) & Character'Val (16#BD#);
      E      : constant String := Character'Val (16#C3#) & Character'Val (16#A9#);
      U_FFFF : constant String :=
        Character'Val (16#EF#) & Character'Val (16#BF#) & Character'Val (16#BF#);
   begin
      Assert
        (Written (As_XML, Write_Odd_Texts'Access),
         Declaration & "<document><t>&lt;a href=""x""&gt;&amp;amp;&lt;/a&gt; ]]&gt;</t>"
         & "<t>1" & ASCII.HT & "2" & ASCII.LF & "3&#13;4</t>"
         & "<t>" & U_FFFD & "x" & U_FFFD & "</t>"
         & "<t>" & E & U_FFFD & U_FFFD & "</t>"
         & "<t>" & U_FFFD & U_FFFD & "</t></document>",
         "XML");
      Assert
        (Written (As_JSON, Write_Odd_Texts'Access),
         "{""t"":""<a href=\""x\"">&amp;</a> ]]>"",""t"":""1\t2\n3\r4"",""t"":""\u0000x\u001b"","
         & """t"":""" & E & U_FFFD & U_FFFD & """,""t"":""" & U_FFFF & U_FFFD & """}",
         "JSON");
   end Texts_Are_Escaped;

   procedure Names (T : in out Fixture) is
      pragma Unreferenced (T);
   begin
      Assert (Is_Name ("a"), "a");
      Assert (Is_Name ("_Z"), "_Z");
      Assert (Is_Name ("a-b.c_9"), "a-b.c_9");
      Assert (Is_Name ([1 .. Max_Name_Length => 'x']), "the longest");
      Assert (not Is_Name ([1 .. Max_Name_Length + 1 => 'x']), "longer");
      Assert (not Is_Name (""), "empty");
      Assert (not Is_Name ("1a"), "a digit first");
      Assert (not Is_Name ("-a"), "a minus first");
      Assert (not Is_Name ("a b"), "a space");
      Assert (not Is_Name ("a>"), "a bracket");
      Assert (not Is_Name ("x:y"), "a namespace");
   end Names;

   procedure Bad_Name (Document : in out Writer) is
   begin
      Document.Start_Document;
      Document.Write_Entity ("a b", 1);
   end Bad_Name;

   procedure No_Start (Document : in out Writer) is
   begin
      Document.Write_Entity ("a", 1);
   end No_Start;

   procedure Item_In_Entity (Document : in out Writer) is
   begin
      Document.Start_Document;
      Document.Write_Item (1);
   end Item_In_Entity;

   procedure Name_In_List (Document : in out Writer) is
   begin
      Document.Start_Document;
      Document.Start_List ("list");
      Document.Write_Entity ("a", 1);
   end Name_In_List;

   procedure Open_At_End (Document : in out Writer) is
   begin
      Document.Start_Document;
      Document.Start_Entity ("a");
      Document.End_Document;
   end Open_At_End;

   procedure Other_End (Document : in out Writer) is
   begin
      Document.Start_Document;
      Document.Start_Entity ("a");
      Document.End_List;
   end Other_End;

   procedure Two_Documents (Document : in out Writer) is
   begin
      Document.Start_Document;
      Document.End_Document;
      Document.Start_Document;
   end Two_Documents;

   procedure Too_Deep (Document : in out Writer) is
   begin
      Document.Start_Document;
      for Depth in 1 .. 64 loop
         Document.Start_Entity ("a");
      end loop;
   end Too_Deep;

   procedure Too_Many_Names (Document : in out Writer) is
   begin
      Document.Start_Document;
      for Depth in 1 .. Room_For_Names / Max_Name_Length loop
         Document.Start_Entity ([1 .. Max_Name_Length => 'x']);
      end loop;
   end Too_Many_Names;

   procedure Misuse_Is_Refused (T : in out Fixture) is
      pragma Unreferenced (T);

      Cases : constant array (Positive range <>) of Document_Text :=
        [Bad_Name'Access, No_Start'Access, Item_In_Entity'Access, Name_In_List'Access,
         Open_At_End'Access, Other_End'Access, Two_Documents'Access, Too_Deep'Access,
         Too_Many_Names'Access];
   begin
      for Form in Format loop
         for Number in Cases'Range loop
            declare
               Buffer   : aliased Text_Sinks.Text_Buffer (10_000);
               Document : Writer (Buffer'Access, Form);
               Refused  : Boolean := False;
            begin
               begin
                  Cases (Number) (Document);
               exception
                  when Appserver.Misuse_Error =>
                     Refused := True;
               end;
               Assert (Refused, Form'Image & ", misuse" & Number'Image);
            end;
         end loop;
      end loop;
   end Misuse_Is_Refused;

   -----------------
   -- Negotiation --
   -----------------

   function Choice_Of (Accepted : String) return String is
      Choice : constant Documents.Choice := Chosen (Accepted);
   begin
      return (if Choice.Is_Possible then Choice.Form'Image else "none");
   end Choice_Of;

   procedure Clients_Choose (T : in out Fixture) is
      pragma Unreferenced (T);

      procedure Chooses (Accepted, Expected : String) is
      begin
         Assert (Choice_Of (Accepted), Expected, Accepted);
      end Chooses;
   begin
      Chooses ("", "AS_JSON");
      Chooses ("*/*", "AS_JSON");
      Chooses ("application/*", "AS_JSON");
      Chooses ("application/json", "AS_JSON");
      Chooses ("Application/JSON", "AS_JSON");
      Chooses ("application/xml", "AS_XML");
      Chooses ("application/xml, application/json", "AS_JSON");
      Chooses ("application/json;q=0.5, application/xml", "AS_XML");
      Chooses ("application/json;q=0.5,application/xml;q=0.499", "AS_JSON");
      Chooses ("application/json ; Q=0.8 , application/xml;q=0.9", "AS_XML");
      Chooses ("*/*;q=0.1, application/xml", "AS_XML");
      Chooses ("application/json;q=0, */*", "AS_XML");
      Chooses ("application/xml, */*;q=0", "AS_XML");
      Chooses ("application/*;q=0.2, application/json;q=0.1", "AS_XML");
      Chooses ("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", "AS_XML");
      Chooses ("application/json; charset=utf-8", "AS_JSON");
      Chooses ("application/xml;charset=""UTF-8"", application/json;q=0.1", "AS_XML");
      Chooses ("text/html", "none");
      Chooses ("text/*", "none");
      Chooses ("application/json;q=0", "none");
      Chooses ("*/*;q=0", "none");
      Chooses ("application/json;level=1", "none");
      Chooses ("application/json;q=2", "none");
      Chooses ("application/json;q=0.1234", "none");
      Chooses ("application/json;q=1.001", "none");
      Chooses ("application/json;q=", "none");
      Chooses ("application/json;q=0.!", "none");
      Chooses ("json", "none");
      Chooses (",,;;,", "none");
      Chooses ("x/y;z="",application/json""", "none");
      Chooses ("x/y;z=""\"",application/json"", application/xml", "AS_XML");
      Chooses (" , application/xml ,", "AS_XML");
   end Clients_Choose;

   --  A field can contain any bytes

   procedure Any_Field_Is_Read (T : in out Fixture) is
      pragma Unreferenced (T);

      use Dice;

      Pieces : constant Piece_List :=
        [+"a", +"/", +"*", +";", +"q=", +"0", +"1", +".", +",", +"""", +"\", +" ", +"a/b",
         +[ASCII.HT], +"*/*", +";q=0.5"];
      Total  : Natural := 0;
   begin
      for Round in 1 .. 100_000 loop
         Total := Total + Media_Ranges.Weight_Of (Joined (Pieces, 8), "a", "b");
      end loop;
      Assert (Total > 0, "some fit");
   end Any_Field_Is_Read;

   package Caller is new AUnit.Test_Caller (Fixture);

   function Suite return AUnit.Test_Suites.Access_Test_Suite is
      Result : constant AUnit.Test_Suites.Access_Test_Suite := AUnit.Test_Suites.New_Suite;

      procedure Add (Name : String; Test : Caller.Test_Method) is
      begin
         Result.Add_Test (Caller.Create ("documents: " & Name, Test));
      end Add;

   begin
      Add ("both formats", Both_Formats'Access);
      Add ("texts are escaped", Texts_Are_Escaped'Access);
      Add ("names", Names'Access);
      Add ("misuse is rejected", Misuse_Is_Refused'Access);
      Add ("content negotiation", Clients_Choose'Access);
      Add ("any Accept field is read", Any_Field_Is_Read'Access);
      return Result;
   end Suite;

end Document_Tests;
