--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

with Appserver.JSON.Readers;
with Appserver.JSON.Writers;
with Appserver.Text_Sinks;
with AUnit.Assertions;
with AUnit.Test_Caller;
with AUnit.Test_Fixtures;
with Dice;
with Interfaces;

package body JSON_Tests is

   use Appserver;
   use Appserver.JSON.Readers;
   use AUnit.Assertions;
   use type Interfaces.Integer_64;

   type Fixture is new AUnit.Test_Fixtures.Test_Fixture with null record;

   type Text_Reference is not null access constant String;

   function "+" (Text : String) return Text_Reference is (new String'(Text));

   --  Decodes texts with any bytes: ~HH is a byte in hexadecimal, and '' is a quotation mark

   function Bytes (Text : String) return String is
      Result : String (1 .. Text'Length);
      Last   : Natural := 0;
      Next   : Positive := Text'First;
   begin
      while Next <= Text'Last loop
         Last := Last + 1;
         if Text (Next) = '~' then
            Result (Last) :=
              Character'Val (Natural'Value ("16#" & Text (Next + 1 .. Next + 2) & "#"));
            Next := Next + 3;
         else
            Result (Last) := (if Text (Next) = ''' then '"' else Text (Next));
            Next := Next + 1;
         end if;
      end loop;
      return Result (1 .. Last);
   end Bytes;

   -----------
   -- Texts --
   -----------

   type Text_List is array (Positive range <>) of Text_Reference;

   Valid : constant Text_List :=
     [+"0", +"-0", +"1", +"10", +"-10", +"0.5", +"-0.5", +"1.0", +"1e1", +"1E+1", +"1e-01", +"0e0",
      +"0.0E00", +"123456789012345678901234567890", +"1.7976931348623157e308",
      +"true", +"false", +"null", +"''", +"'a'", +"[]", +"{}", +"[[]]", +"[{}]", +"{'a':[]}",
      +"[1]", +"[1,2]", +"[1,[2,[3]]]", +"{'a':1}", +"{'a':1,'b':2}", +"{'':0}", +"{'a':1,'a':2}",
      +"{'a':{'b':{'c':null}}}", +"[true,false,null,1,'x',{},[]]",
      +" 1", +"1 ",
      +"~0A~0D~09 1~0A~0D~09 ", +"[ ]", +"{ }", +"[ 1 , 2 ]", +"{ 'a' : 1 , 'b' : 2 }",
      +"'\'\\\/\b\f\n\r\t'", +"'\u0041\u00e9\u20AC\uFFFF'", +"'\u0000'", +"'\ud83d\ude00'",
      +"'\uD800\uDC00\uDBFF\uDFFF'", +"'~7F'", +"'/'", +"'\u002F'", +"'//'", +"'/* */'",
      +"'~C2~80~DF~BF'", +"'~E0~A0~80~EF~BF~BF'", +"'~ED~9F~BF~EE~80~80'",
      +"'~F0~90~80~80~F4~8F~BF~BF'", +"'~EF~BB~BF'", +"{'~C3~A9':'~E2~82~AC'}", +"'\\u0041'"];

   type Fault_Case is record
      Text     : Text_Reference;
      Problem  : JSON.Readers.Problem;
      Position : Positive;
   end record;

   type Fault_List is array (Positive range <>) of Fault_Case;

   Invalid : constant Fault_List :=
     [(+"", Unexpected_End, 1),
      (+" ~0A", Unexpected_End, 3),
      (+"[", Unexpected_End, 2),
      (+"[1", Unexpected_End, 3),
      (+"[1,", Unexpected_End, 4),
      (+"{", Unexpected_End, 2),
      (+"{'a'", Unexpected_End, 5),
      (+"{'a':", Unexpected_End, 6),
      (+"{'a':1", Unexpected_End, 7),
      (+"{'a':1,", Unexpected_End, 8),
      (+"'", Unexpected_End, 2),
      (+"'a", Unexpected_End, 3),
      (+"'\", Unexpected_End, 3),
      (+"'\'", Unexpected_End, 4),
      (+"-", Unexpected_End, 2),
      (+"1.", Unexpected_End, 3),
      (+"1e", Unexpected_End, 3),
      (+"1e+", Unexpected_End, 4),
      (+"t", Unexpected_End, 2),
      (+"nul", Unexpected_End, 4),
      (+"]", Unexpected_Character, 1),
      (+"}", Unexpected_Character, 1),
      (+",", Unexpected_Character, 1),
      (+":", Unexpected_Character, 1),
      (+"[,1]", Unexpected_Character, 2),
      (+"[1,]", Unexpected_Character, 4),
      (+"[1,,2]", Unexpected_Character, 4),
      (+"[1 2]", Unexpected_Character, 4),
      (+"[1:2]", Unexpected_Character, 3),
      (+"[1}", Unexpected_Character, 3),
      (+"{'a':1]", Unexpected_Character, 7),
      (+"{,}", Unexpected_Character, 2),
      (+"{'a':1,}", Unexpected_Character, 8),
      (+"{'a' 1}", Unexpected_Character, 6),
      (+"{'a',1}", Unexpected_Character, 5),
      (+"{'a'::1}", Unexpected_Character, 6),
      (+"{'a':}", Unexpected_Character, 6),
      (+"{a:1}", Unexpected_Character, 2),
      (+"{1:1}", Unexpected_Character, 2),
      (+"{null:1}", Unexpected_Character, 2),
      (+"{[]:1}", Unexpected_Character, 2),
      (+"{'a':1 'b':2}", Unexpected_Character, 8),
      (+"+1", Unexpected_Character, 1),
      (+".5", Unexpected_Character, 1),
      (+"NaN", Unexpected_Character, 1),
      (+"Infinity", Unexpected_Character, 1),
      (+"True", Unexpected_Character, 1),
      (+"a", Unexpected_Character, 1),
      (+"/* */1", Unexpected_Character, 1),
      (+"// ~0A1", Unexpected_Character, 1),
      (+"~EF~BB~BF1", Unexpected_Character, 1),
      (+"~001", Unexpected_Character, 1),
      (+"~0C1", Unexpected_Character, 1),
      (+"~C2~A01", Unexpected_Character, 1),
      (+"[~0B1]", Unexpected_Character, 2),
      (+"1 1", Text_After_End, 3),
      (+"{}{}", Text_After_End, 3),
      (+"[]]", Text_After_End, 3),
      (+"{}}", Text_After_End, 3),
      (+"'a'b", Text_After_End, 4),
      (+"truex", Text_After_End, 5),
      (+"01", Text_After_End, 2),
      (+"00", Text_After_End, 2),
      (+"-012", Text_After_End, 3),
      (+"0x1", Text_After_End, 2),
      (+"1_000", Text_After_End, 2),
      (+"1.2.3", Text_After_End, 4),
      (+"1e2e3", Text_After_End, 4),
      (+"1~00", Text_After_End, 2),
      (+"tRue", Bad_Literal, 2),
      (+"falsy", Bad_Literal, 5),
      (+"nil", Bad_Literal, 2),
      (+"-a", Bad_Number, 2),
      (+"--1", Bad_Number, 2),
      (+"-Infinity", Bad_Number, 2),
      (+"1.e1", Bad_Number, 3),
      (+"1.a", Bad_Number, 3),
      (+"1ea", Bad_Number, 3),
      (+"1e+-1", Bad_Number, 4),
      (+"[1e]", Bad_Number, 4),
      (+"[1.]", Bad_Number, 4),
      (+"'\a'", Bad_Escape, 2),
      (+"'\0'", Bad_Escape, 2),
      (+"'\x41'", Bad_Escape, 2),
      (+"'\ '", Bad_Escape, 2),
      (+"'\U0041'", Bad_Escape, 2),
      (+"'\u'", Bad_Escape, 2),
      (+"'\u12'", Bad_Escape, 2),
      (+"'\u123'", Bad_Escape, 2),
      (+"'\u12G4'", Bad_Escape, 2),
      (+"'\u 123'", Bad_Escape, 2),
      (+"'\u-123'", Bad_Escape, 2),
      (+"{'\q':1}", Bad_Escape, 3),
      (+"'~80'", Bad_UTF_8, 2),
      (+"'~C0~80'", Bad_UTF_8, 2),
      (+"'~C1~BF'", Bad_UTF_8, 2),
      (+"'~C3'", Bad_UTF_8, 2),
      (+"'~C3~28'", Bad_UTF_8, 2),
      (+"'~E0~9F~BF'", Bad_UTF_8, 2),
      (+"'~E2~82'", Bad_UTF_8, 2),
      (+"'~ED~A0~80'", Bad_UTF_8, 2),
      (+"'~ED~BF~BF'", Bad_UTF_8, 2),
      (+"'~F0~8F~BF~BF'", Bad_UTF_8, 2),
      (+"'~F0~9F~98'", Bad_UTF_8, 2),
      (+"'~F4~90~80~80'", Bad_UTF_8, 2),
      (+"'~F5~80~80~80'", Bad_UTF_8, 2),
      (+"'~FE'", Bad_UTF_8, 2),
      (+"'~FF'", Bad_UTF_8, 2),
      (+"'a~E9'", Bad_UTF_8, 3),
      (+"'~C3", Bad_UTF_8, 2),
      (+"{'~FF':1}", Bad_UTF_8, 3),
      (+"'~00'", Control_Character, 2),
      (+"'a~0Ab'", Control_Character, 3),
      (+"'~09'", Control_Character, 2),
      (+"'~1F'", Control_Character, 2),
      (+"'\ud800'", Unpaired_Surrogate, 2),
      (+"'\udc00'", Unpaired_Surrogate, 2),
      (+"'\ud800a'", Unpaired_Surrogate, 2),
      (+"'\ud800\n'", Unpaired_Surrogate, 2),
      (+"'\ud800\u0041'", Unpaired_Surrogate, 2),
      (+"'\ud800\ud800'", Unpaired_Surrogate, 2),
      (+"'\udc00\ud800'", Unpaired_Surrogate, 2),
      (+"'x\ud800\u'", Unpaired_Surrogate, 3)];

   procedure Read_To_End (JSON_In : in out Reader; Source : String) is
   begin
      for Tokens in 0 .. Source'Length + 1 loop
         JSON_In.Next (Source);
         exit when JSON_In.Kind in Finish | Failure;
      end loop;
      Assert (JSON_In.Kind in Finish | Failure, "the text ends: " & Source);
   end Read_To_End;

   procedure Takes_What_Is_JSON (T : in out Fixture) is
      pragma Unreferenced (T);
   begin
      for Text of Valid loop
         declare
            JSON_In : Reader;
         begin
            Read_To_End (JSON_In, Bytes (Text.all));
            Assert
              (JSON_In.Kind = Finish,
               Text.all & ":" & JSON_In.Position'Image & " " & JSON_In.Fault'Image);
         end;
      end loop;
   end Takes_What_Is_JSON;

   procedure Refuses_What_Is_Not (T : in out Fixture) is
      pragma Unreferenced (T);
   begin
      for Item of Invalid loop
         declare
            JSON_In : Reader;
         begin
            Read_To_End (JSON_In, Bytes (Item.Text.all));
            Assert
              (JSON_In.Fault = Item.Problem and then JSON_In.Position = Item.Position,
               Item.Text.all & ":" & JSON_In.Position'Image & " " & JSON_In.Fault'Image);
         end;
      end loop;
   end Refuses_What_Is_Not;

   procedure Depth_Has_A_Limit (T : in out Fixture) is
      pragma Unreferenced (T);

      function Nested (Depth : Positive) return String is
        ([1 .. Depth => '['] & [1 .. Depth => ']']);

      Deep, Deeper : Reader;
   begin
      Read_To_End (Deep, Nested (JSON.Deepest));
      Assert (Deep.Kind = Finish, "the deepest");
      Read_To_End (Deeper, Nested (JSON.Deepest + 1));
      Assert (Deeper.Fault = Too_Deep, "deeper");
      Assert (Deeper.Position = JSON.Deepest + 1, "where");
   end Depth_Has_A_Limit;

   --  A text does not have to begin at 1, and may end at Positive'Last

   procedure Any_Bounds (T : in out Fixture) is
      pragma Unreferenced (T);

      Text    : constant String := Bytes ("{'a':[1,'b'],'n':17}");
      Far     : constant String (Positive'Last - Text'Length + 1 .. Positive'Last) := Text;
      Number  : constant String (Positive'Last .. Positive'Last) := "7";
      JSON_In : Reader;
   begin
      Read_To_End (JSON_In, Far);
      Assert (JSON_In.Kind = Finish, "at the end");
      JSON_In.Start;
      Assert (JSON_In.Next_Integer (Number, 0, 9) = 7, "a number at the end");
      JSON_In.Finish_Reading (Number);
      Assert (not JSON_In.Has_Failed, "is all there is");
   end Any_Bounds;

   ------------
   -- Values --
   ------------

   function Text_In (Source : String; Room : Natural := 100) return String is
      JSON_In : Reader;
      Into    : String (5 .. Room + 4);
      Last    : Natural;
   begin
      JSON_In.Next_Text (Source, Into, Last);
      if JSON_In.Fault /= Too_Long then
         declare
            Same : Reader;
            Text : constant String := Same.Next_Text (Source);
         begin
            Assert (Text, (if JSON_In.Has_Failed then "" else Into (5 .. Last)), "function");
            Assert (Same.Fault = JSON_In.Fault, "function: " & Same.Fault'Image);
         end;
      end if;
      return (if JSON_In.Has_Failed then JSON_In.Fault'Image else Into (5 .. Last));
   end Text_In;

   procedure Texts_Are_Decoded (T : in out Fixture) is
      pragma Unreferenced (T);
   begin
      Assert (Text_In (Bytes ("''")), "", "empty");
      Assert (Text_In (Bytes ("'abc'")), "abc", "plain");
      Assert
        (Text_In ("""\""\\\/\b\f\n\r\t"""),
         """\/" & ASCII.BS & ASCII.FF & ASCII.LF & ASCII.CR & ASCII.HT, "short escapes");
      Assert
        (Text_In (Bytes ("'x\u00E9y\u20acz\u0000'")),
         Bytes ("x~C3~A9y~E2~82~ACz~00"), "escapes");
      Assert (Text_In (Bytes ("'\ud83d\ude00'")), Bytes ("~F0~9F~98~80"), "a pair");
      Assert (Text_In (Bytes ("'\udbff\udfff'")), Bytes ("~F4~8F~BF~BF"), "the last code point");
      Assert (Text_In (Bytes ("'abc'"), 3), "abc", "it fits");
      Assert (Text_In (Bytes ("'abcd'"), 3), "TOO_LONG", "it does not");
      Assert (Text_In (Bytes ("'ab\ud83d\ude00'"), 5), "TOO_LONG", "nor half a character");
      Assert (Text_In ("17"), "OTHER_KIND", "no text");
   end Texts_Are_Decoded;

   function Integer_In (Source : String; First, Last : Integer_64) return String is
      JSON_In : Reader;
      Value   : constant Integer_64 := JSON_In.Next_Integer (Source, First, Last);
   begin
      JSON_In.Finish_Reading (Source);
      return (if JSON_In.Has_Failed then JSON_In.Fault'Image else Value'Image);
   end Integer_In;

   procedure Integers_Are_In_Range (T : in out Fixture) is
      pragma Unreferenced (T);

      Least : constant Integer_64 := Integer_64'First;
      Most  : constant Integer_64 := Integer_64'Last;
   begin
      Assert (Integer_In ("0", 0, 9), " 0", "0");
      Assert (Integer_In ("-0", 0, 9), " 0", "-0");
      Assert (Integer_In ("9", 0, 9), " 9", "9");
      Assert (Integer_In ("10", 0, 9), "OUT_OF_RANGE", "10");
      Assert (Integer_In ("-1", 0, 9), "OUT_OF_RANGE", "-1");
      Assert (Integer_In ("9223372036854775807", Least, Most), Most'Image, "the last");
      Assert (Integer_In ("9223372036854775808", Least, Most), "OUT_OF_RANGE", "too large");
      Assert (Integer_In ("-9223372036854775808", Least, Most), Least'Image, "the first");
      Assert (Integer_In ("-9223372036854775809", Least, Most), "OUT_OF_RANGE", "too small");
      Assert (Integer_In ("99999999999999999999999", Least, Most), "OUT_OF_RANGE", "far too large");
      Assert (Integer_In ("1.0", 0, 9), "OTHER_KIND", "a fraction");
      Assert (Integer_In ("1e0", 0, 9), "OTHER_KIND", "an exponent");
      Assert (Integer_In ("""1""", 0, 9), "OTHER_KIND", "a text");
      Assert (Integer_In ("1 2", 0, 9), "TEXT_AFTER_END", "two");
   end Integers_Are_In_Range;

   function Float_In (Source : String) return Long_Float is
      JSON_In : Reader;
      Value   : constant Long_Float := JSON_In.Next_Float (Source);
   begin
      return (if JSON_In.Has_Failed then -1.0 else Value);
   end Float_In;

   procedure Floats_Are_The_Nearest (T : in out Fixture) is
      pragma Unreferenced (T);

      Digits_1000 : constant String (1 .. 998) := [others => '0'];
   begin
      Assert (Float_In ("12.5") = 12.5, "12.5");
      Assert (Float_In ("-0.1") = -0.1, "-0.1");
      Assert (Float_In ("1e22") = 1.0e22, "1e22");
      Assert (Float_In ("9007199254740993") = 9_007_199_254_740_992.0, "a tie");
      Assert (Float_In ("9007199254740993.0000001") = 9_007_199_254_740_994.0, "above the tie");
      Assert (Float_In ("4.9e-324") > 0.0, "the smallest");
      Assert (Float_In ("1e-400") = 0.0, "smaller");
      Assert (Float_In ("1e309") = -1.0, "too large");
      Assert (Float_In ("-1e309") = -1.0, "too large, below zero");
      Assert (Float_In ("0." & Digits_1000) = 0.0, "as many digits as there may be");
      Assert (Float_In ("0.0" & Digits_1000) = -1.0, "more");
   end Floats_Are_The_Nearest;

   procedure Objects_Are_Walked (T : in out Fixture) is
      pragma Unreferenced (T);

      Source  : constant String :=
        Bytes ("{'skip':[{'x':[1,2]},'}'],'n\u0061me':'Ada','list':[1,2,3],'no':null,'yes':true}");
      JSON_In : Reader;
      Name    : String (1 .. 10);
      Last    : Natural := 0;
      Sum     : Integer_64 := 0;
      Nulls   : Natural := 0;
      Is_Yes  : Boolean := False;
   begin
      JSON_In.Enter_Object (Source);
      while JSON_In.Next_Name (Source) loop
         if JSON_In.Name_Is (Source, "name") then
            JSON_In.Next_Text (Source, Name, Last);
         elsif JSON_In.Name_Is (Source, "list") then
            JSON_In.Enter_Array (Source);
            while JSON_In.Next_Element (Source) loop
               Sum := Sum + JSON_In.Next_Integer (Source, 0, 9);
            end loop;
         elsif JSON_In.Name_Is (Source, "no") then
            Nulls := Nulls + Boolean'Pos (JSON_In.Next_Is_Null (Source));
         elsif JSON_In.Name_Is (Source, "yes") then
            Assert (not JSON_In.Next_Is_Null (Source), "true is not null");
            Is_Yes := JSON_In.Next_Boolean (Source);
         else
            JSON_In.Skip (Source);
         end if;
      end loop;
      JSON_In.Finish_Reading (Source);
      Assert (not JSON_In.Has_Failed, JSON_In.Position'Image & JSON_In.Fault'Image);
      Assert (Name (1 .. Last), "Ada", "name");
      Assert (Sum'Image, " 6", "list");
      Assert (Nulls = 1 and then Is_Yes, "no and yes");
   end Objects_Are_Walked;

   --  After a failure, calls of the reader have no effect

   procedure Failures_Stay (T : in out Fixture) is
      pragma Unreferenced (T);

      Source  : constant String := Bytes ("{'a':1,'b':[1,2]}");
      JSON_In : Reader;
      Into    : String (1 .. 10);
      Last    : Natural;
   begin
      JSON_In.Enter_Object (Source);
      Assert (JSON_In.Next_Name (Source), "a");
      JSON_In.Next_Text (Source, Into, Last);
      Assert (JSON_In.Fault = Other_Kind and then JSON_In.Position = 6, "no text");
      Assert (not JSON_In.Next_Name (Source), "no more names");
      Assert (not JSON_In.Next_Element (Source), "no more elements");
      Assert (not JSON_In.Next_Is_Null (Source), "no null");
      Assert (not JSON_In.Next_Boolean (Source), "no truth");
      Assert (JSON_In.Next_Text (Source), "", "no text from the function");
      Assert (JSON_In.Next_Integer (Source, 3, 9) = 3, "the least number");
      Assert (JSON_In.Next_Float (Source) = 0.0, "no number");
      JSON_In.Skip (Source);
      JSON_In.Finish_Reading (Source);
      JSON_In.Fail (Refused);
      Assert (JSON_In.Fault = Other_Kind and then JSON_In.Position = 6, "the first failure");
   end Failures_Stay;

   ----------
   -- Fuzz --
   ----------

   procedure Ask_Anything (JSON_In : in out Reader; Source : String) is
      Into  : String (1 .. 3);
      Last  : Natural;
      Taken : Boolean;
      Whole : Integer_64;
      Real  : Long_Float;
      pragma Unreferenced (Taken, Whole, Real);
   begin
      case Dice.Next (11) is
         when 0      => JSON_In.Enter_Object (Source);
         when 1      => JSON_In.Enter_Array (Source);
         when 2      => Taken := JSON_In.Next_Element (Source);
         when 3      => Taken := JSON_In.Next_Is_Null (Source);
         when 4      => Taken := JSON_In.Next_Boolean (Source);
         when 5      => Whole := JSON_In.Next_Integer (Source, -10, 10);
         when 6      => Real := JSON_In.Next_Float (Source);
         when 7      => JSON_In.Next_Text (Source, Into, Last);
         when 8      => JSON_In.Skip (Source);
         when 9      =>
            if JSON_In.Next_Name (Source) then
               Taken := JSON_In.Name_Is (Source, "a");
            end if;
         when others => JSON_In.Next (Source);
      end case;
   end Ask_Anything;

   procedure Nothing_Is_Raised (T : in out Fixture) is
      pragma Unreferenced (T);
   begin
      for Round in 1 .. 100_000 loop
         declare
            Text    : String := Bytes (Valid (Valid'First + Dice.Next (Valid'Length)).all);
            JSON_In : Reader;
         begin
            for Change in 0 .. Dice.Next (3) loop
               Text (Text'First + Dice.Next (Text'Length)) := Character'Val (Dice.Next (256));
            end loop;
            Read_To_End (JSON_In, Text);
            JSON_In.Start;
            for Question in 1 .. Text'Length loop
               Ask_Anything (JSON_In, Text (1 .. Text'Last - Round mod 2));
            end loop;
         end;
      end loop;
   end Nothing_Is_Raised;

   -------------
   -- Writing --
   -------------

   procedure Writes (T : in out Fixture) is
      pragma Unreferenced (T);

      Buffer   : aliased Text_Sinks.Text_Buffer (1_000);
      JSON_Out : JSON.Writers.Writer (Buffer'Access);
   begin
      JSON_Out.Start_Object;
      JSON_Out.Write_Name ("a");
      JSON_Out.Write (Integer_64'First);
      JSON_Out.Write_Name (Bytes ("'\~01~1F/~7F~C3~A9~FFx"));
      JSON_Out.Start_Array;
      JSON_Out.Write (True);
      JSON_Out.Write (12.5);
      JSON_Out.Write ("tab" & ASCII.HT);
      JSON_Out.Start_Object;
      JSON_Out.End_Object;
      JSON_Out.Start_Array;
      JSON_Out.End_Array;
      JSON_Out.Write_Null;
      JSON_Out.End_Array;
      JSON_Out.End_Object;
      Assert (JSON_Out.Is_Complete, "complete");
      Assert
        (Buffer.Content,
         "{""a"":-9223372036854775808,""\""\\\u0001\u001f/"
         & Bytes ("~7F~C3~A9~EF~BF~BDx") & """:[true,12.5,""tab\t"",{},[],null]}",
         "text");
   end Writes;

   procedure Writes_Short_Numbers (T : in out Fixture) is
      pragma Unreferenced (T);

      function Written (Value : Long_Float) return String is
         Buffer   : aliased Text_Sinks.Text_Buffer (100);
         JSON_Out : JSON.Writers.Writer (Buffer'Access);
      begin
         JSON_Out.Write (Value);
         return Buffer.Content;
      end Written;
   begin
      Assert (Written (0.0), "0", "0");
      Assert (Written (0.1), "0.1", "0.1");
      Assert (Written (-0.25), "-0.25", "-0.25");
      Assert (Written (99.5), "99.5", "99.5");
      Assert (Written (1_234_567.891), "1234567.891", "1234567.891");
      Assert (Written (1.0e15), "1000000000000000", "1e15");
      Assert (Written (1.0e23), "1e+23", "1e23");
      Assert (Written (5.0e-7), "5e-07", "5e-7");
      Assert (Written (0.300_000_000_000_000_04), "0.30000000000000004", "0.1 + 0.2");
      Assert (Written (Long_Float'Last), "1.7976931348623157e+308", "the largest");
   end Writes_Short_Numbers;

   --  Preconditions enforce the order of the writer's calls

   type Misuse is not null access procedure (JSON_Out : in out JSON.Writers.Writer);

   procedure End_Too_Early (JSON_Out : in out JSON.Writers.Writer) is
   begin
      JSON_Out.End_Object;
   end End_Too_Early;

   procedure Write_Two (JSON_Out : in out JSON.Writers.Writer) is
   begin
      JSON_Out.Write (True);
      JSON_Out.Write (True);
   end Write_Two;

   procedure Forget_Name (JSON_Out : in out JSON.Writers.Writer) is
   begin
      JSON_Out.Start_Object;
      JSON_Out.Write (True);
   end Forget_Name;

   procedure Forget_Value (JSON_Out : in out JSON.Writers.Writer) is
   begin
      JSON_Out.Start_Object;
      JSON_Out.Write_Name ("a");
      JSON_Out.End_Object;
   end Forget_Value;

   procedure Name_In_Array (JSON_Out : in out JSON.Writers.Writer) is
   begin
      JSON_Out.Start_Array;
      JSON_Out.Write_Name ("a");
   end Name_In_Array;

   procedure End_Other (JSON_Out : in out JSON.Writers.Writer) is
   begin
      JSON_Out.Start_Array;
      JSON_Out.End_Object;
   end End_Other;

   procedure Go_Too_Deep (JSON_Out : in out JSON.Writers.Writer) is
   begin
      for Depth in 1 .. JSON.Deepest + 1 loop
         JSON_Out.Start_Array;
      end loop;
   end Go_Too_Deep;

   procedure Refuses_Misuse (T : in out Fixture) is
      pragma Unreferenced (T);

      Cases : constant array (Positive range <>) of Misuse :=
        [End_Too_Early'Access, Write_Two'Access, Forget_Name'Access, Forget_Value'Access,
         Name_In_Array'Access, End_Other'Access, Go_Too_Deep'Access];
   begin
      for Number in Cases'Range loop
         declare
            Buffer   : aliased Text_Sinks.Text_Buffer (1_000);
            JSON_Out : JSON.Writers.Writer (Buffer'Access);
            Refused  : Boolean := False;
         begin
            begin
               Cases (Number) (JSON_Out);
            exception
               when Appserver.Misuse_Error =>
                  Refused := True;
            end;
            Assert (Refused, "misuse" & Number'Image);
         end;
      end loop;
   end Refuses_Misuse;

   package Caller is new AUnit.Test_Caller (Fixture);

   function Suite return AUnit.Test_Suites.Access_Test_Suite is
      Result : constant AUnit.Test_Suites.Access_Test_Suite := AUnit.Test_Suites.New_Suite;

      procedure Add (Name : String; Test : Caller.Test_Method) is
      begin
         Result.Add_Test (Caller.Create ("json: " & Name, Test));
      end Add;

   begin
      Add ("accepts JSON", Takes_What_Is_JSON'Access);
      Add ("rejects invalid JSON, with the position", Refuses_What_Is_Not'Access);
      Add ("the depth is limited", Depth_Has_A_Limit'Access);
      Add ("texts with any bounds", Any_Bounds'Access);
      Add ("texts are decoded", Texts_Are_Decoded'Access);
      Add ("integers are in range", Integers_Are_In_Range'Access);
      Add ("floats are rounded to nearest", Floats_Are_The_Nearest'Access);
      Add ("objects are read", Objects_Are_Walked'Access);
      Add ("failures are final", Failures_Stay'Access);
      Add ("damaged texts raise no exception", Nothing_Is_Raised'Access);
      Add ("writes", Writes'Access);
      Add ("writes short numbers", Writes_Short_Numbers'Access);
      Add ("rejects misuse", Refuses_Misuse'Access);
      return Result;
   end Suite;

end JSON_Tests;
