--  SPDX-License-Identifier: Apache-2.0

with AUnit.Assertions;
with AUnit.Test_Caller;
with AUnit.Test_Fixtures;
with Benchlab.Fields;
with Benchlab.Lines;
with Benchlab.Operation_Sets;
with Benchlab.Percent_Coding;
with Benchlab.Seeded_Sequences;
with Interfaces.C_Streams;

package body Protocol_Tests is

   use AUnit.Assertions;
   use Benchlab;
   use Interfaces;

   type Fixture is new AUnit.Test_Fixtures.Test_Fixture with null record;

   procedure Is_Usage_Error (Act : not null access procedure; Attempt : String) is
   begin
      begin
         Act.all;
      exception
         when Usage_Error => return;
      end;
      Assert (False, "expected Usage_Error: " & Attempt);
   end Is_Usage_Error;

   All_Bytes : constant String (1 .. 256) := [for I in 1 .. 256 => Character'Val (I - 1)];

   procedure Encoding (T : in out Fixture) is
      Plain : constant String := "AZaz09-._~/:,+";

      pragma Unreferenced (T);
   begin
      Assert (Percent_Coding.Encoded (Plain), Plain, "these stand for themselves");
      Assert (Percent_Coding.Encoded ("a b=%" & ASCII.LF), "a%20b%3D%25%0A", "the others");
      Assert (Percent_Coding.Encoded ("" & Character'Val (255)), "%FF", "upper-case digits");
      Assert (Percent_Coding.Decoded ("%c3%A9%00"),
              Character'Val (16#C3#) & Character'Val (16#A9#) & ASCII.NUL, "digits of either case");
      Assert (Percent_Coding.Decoded (Percent_Coding.Encoded (All_Bytes)) = All_Bytes,
              "every byte comes back");
   end Encoding;

   procedure Wrong_Encoding (T : in out Fixture) is

      procedure Refuse (Word : String) is
         procedure Decode is
         begin
            Assert (Percent_Coding.Decoded (Word), "", "unreachable");
         end Decode;
      begin
         Is_Usage_Error (Decode'Access, Word);
      end Refuse;

      pragma Unreferenced (T);
   begin
      Refuse ("%");
      Refuse ("a%4");
      Refuse ("%4x");
      Refuse ("%+4");
      Refuse ("a b");
      Refuse ("caf" & Character'Val (16#C3#) & Character'Val (16#A9#));
   end Wrong_Encoding;

   procedure Reading_Fields (T : in out Fixture) is
      type Color is (Red, Dark_Green);

      function Color_Of is new Fields.Choice_Of (Color);

      Arguments : constant Fields.Field_List :=
        Fields.Parsed
          ("text=a%20b empty= max=18446744073709551615 n=007 color=dark_green other=red");

      procedure Refuse (Key : String; First, Last : Unsigned_64) is
         procedure Get is
         begin
            Assert (Arguments.Number (Key, First, Last) = 0, "unreachable");
         end Get;
      begin
         Is_Usage_Error (Get'Access, Key);
      end Refuse;

      procedure Missing is
      begin
         Assert (Arguments.Text ("colors"), "", "unreachable");
      end Missing;

      pragma Unreferenced (T);
   begin
      Assert (Arguments.Text ("text"), "a b", "decoded");
      Assert (Arguments.Text ("empty"), "", "a value may be empty");
      Assert (Arguments.Number ("max") = Unsigned_64'Last, "the largest number");
      Assert (Arguments.Number ("n", 7, 7) = 7, "leading zeros");
      Assert (Color_Of (Arguments, "color") = Dark_Green, "a choice");
      Assert (Color_Of (Arguments, "other") = Red, "the other choice");
      Assert (Arguments.Has ("n") and then not Arguments.Has ("m"), "has");
      Is_Usage_Error (Missing'Access, "a missing field");
      Refuse ("m", 0, 9);
      Refuse ("n", 8, 9);
      Refuse ("n", 0, 6);
      Refuse ("text", 0, 9);
      Refuse ("empty", 0, 9);
   end Reading_Fields;

   procedure Wrong_Numbers (T : in out Fixture) is

      procedure Refuse (Word : String) is
         procedure Get is
         begin
            Assert (Fields.Parsed ("n=" & Word).Number ("n") = 0, "unreachable");
         end Get;
      begin
         Is_Usage_Error (Get'Access, Word);
      end Refuse;

      pragma Unreferenced (T);
   begin
      Refuse ("-1");
      Refuse ("+1");
      Refuse ("1.0");
      Refuse ("1e3");
      Refuse ("1_000");
      Refuse ("%201");
      Refuse ("18446744073709551616");
      Refuse ("99999999999999999999999999999999999999999999");
   end Wrong_Numbers;

   procedure Wrong_Fields (T : in out Fixture) is

      procedure Refuse (Words : String) is
         procedure Parse is
         begin
            Assert (Fields.Parsed (Words).Image, "", "unreachable");
         end Parse;
      begin
         Is_Usage_Error (Parse'Access, Words);
      end Refuse;

      pragma Unreferenced (T);
   begin
      Refuse ("word");
      Refuse ("=value");
      Refuse ("Key=value");
      Refuse ("1key=value");
      Refuse ("a=1  b=2");
      Refuse ("a=1 ");
      Refuse (" a=1");
      Refuse ("a=1" & ASCII.HT & "b=2");
      Refuse ("a=1 a=2");
      Refuse ("a=b=c");
      Assert (Fields.Parsed ("").Image, "", "none is fine");
   end Wrong_Fields;

   procedure Writing_Fields (T : in out Fixture) is
      List : Fields.Field_List;

      pragma Unreferenced (T);
   begin
      List.Add ("message", "no, 100 %");
      List.Add ("check", Unsigned_64'Last);
      Assert (List.Image, " message=no,%20100%20%25 check=18446744073709551615", "in order");
   end Writing_Fields;

   --  The reference values are from docs/protocol.md, and from an independent implementation

   procedure Sequences (T : in out Fixture) is
      Seven : constant Seeded_Sequences.Sequence := Seeded_Sequences.Values (7);
      Last  : constant Seeded_Sequences.Sequence := Seeded_Sequences.Values (Unsigned_64'Last);

      use type Seeded_Sequences.Input_Index;

      K : Seeded_Sequences.Input_Index := Seeded_Sequences.Input_Index'Last;

      pragma Unreferenced (T);
   begin
      Assert (Seven (0) = 7191089600892374487, "seed 7, value 0");
      Assert (Seven (1) = 309689372594955804, "seed 7, value 1");
      Assert (Seven (2) = 16616101746815609346, "seed 7, value 2");
      Assert (Seven (4_095) = 13693830591078304623, "seed 7, value 4095");
      Assert (Seeded_Sequences.Values (0) (0) = 16294208416658607535, "seed 0, value 0");
      Assert (Last (0) = 16490336266968443936, "the largest seed, value 0");
      Assert (Last (4_095) = 18365585350193557613, "the largest seed, value 4095");
      K := K + 1;
      Assert (Seven (K) = Seven (0), "input 4096 is value 0");
   end Sequences;

   --  Reads three lines of a temporary file, like a subject reads its input

   procedure Line_Lengths (T : in out Fixture) is
      use Interfaces.C_Streams;
      use type Lines.Outcome;
      use type size_t;

      Longest : constant String (1 .. Lines.Max_Length) := [others => 'x'];
      File    : constant FILEs := tmpfile;
      Input   : Lines.Line_Reader (Natural (fileno (File)));
      Line    : Lines.Line_Buffer;
      Length  : Lines.Line_Length;
      Result  : Lines.Outcome;

      procedure Reads (Expected : Lines.Outcome; Text : String) is
      begin
         Lines.Read (Input, Line, Length, Result);
         Assert (Result = Expected, "outcome " & Result'Image & " instead of " & Expected'Image);
         Assert (Result /= Lines.Complete or else Line (1 .. Length) = Text, "the bytes");
      end Reads;

      Unended : constant String := "last";

      pragma Unreferenced (T);
   begin
      Lines.Write (File, Longest);
      Lines.Write (File, Longest & 'y');
      Lines.Write (File, "");
      Lines.Write (File, All_Bytes (12 .. 256));
      Assert (fwrite (Unended'Address, 1, Unended'Length, File) = Unended'Length, "written");
      rewind (File);
      Assert (Lines.Is_Empty (Input), "nothing was read");
      Reads (Lines.Complete, Longest);
      Assert (not Lines.Is_Empty (Input), "the beginning of a line was read with the one before");
      Reads (Lines.Too_Long, "");
      Reads (Lines.Complete, "");
      Reads (Lines.Complete, All_Bytes (12 .. 256));
      Reads (Lines.Complete, Unended);
      Reads (Lines.End_Of_Input, "");
      Assert (fclose (File) = 0, "closed");
   end Line_Lengths;

   type Number_List is array (Positive range <>) of Operation_Number;

   procedure Ranges (T : in out Fixture) is

      procedure Are (Numbers : Number_List; Expected : String) is
         Set : Operation_Sets.Operation_Set;
      begin
         for Number of Numbers loop
            Set.Insert (Number);
         end loop;
         Assert (Operation_Sets.Image (Set), Expected, Expected);
      end Are;

      Last : constant Operation_Number := Operation_Number'Last;

      pragma Unreferenced (T);
   begin
      Are ([1 .. 0 => 0], "none");
      Are ([0], "0");
      Are ([18, 3, 17, 19], "3,17-19");
      Are ([0, 1, 3, 5, 6], "0-1,3,5-6");
      Are ([Last, 0, Last - 1], "0,9007199254740990-9007199254740991");
      Are ([Last], "9007199254740991");
   end Ranges;

   package Caller is new AUnit.Test_Caller (Fixture);

   function Suite return AUnit.Test_Suites.Access_Test_Suite is
      Result : constant AUnit.Test_Suites.Access_Test_Suite := AUnit.Test_Suites.New_Suite;
   begin
      Result.Add_Test (Caller.Create ("percent-coding", Encoding'Access));
      Result.Add_Test (Caller.Create ("malformed percent-coding", Wrong_Encoding'Access));
      Result.Add_Test (Caller.Create ("reading fields", Reading_Fields'Access));
      Result.Add_Test (Caller.Create ("malformed numbers", Wrong_Numbers'Access));
      Result.Add_Test (Caller.Create ("malformed fields", Wrong_Fields'Access));
      Result.Add_Test (Caller.Create ("writing fields", Writing_Fields'Access));
      Result.Add_Test (Caller.Create ("the seeded sequence", Sequences'Access));
      Result.Add_Test (Caller.Create ("lines and their lengths", Line_Lengths'Access));
      Result.Add_Test (Caller.Create ("operations as ranges", Ranges'Access));
      return Result;
   end Suite;

end Protocol_Tests;
