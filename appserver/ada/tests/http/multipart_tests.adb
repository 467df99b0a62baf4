--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

with Ada.Strings.Fixed;
with Ada.Strings.Unbounded;
with Response_Texts;
with Appserver.HTTP.Multipart;
with Appserver.HTTP.Trials;
with AUnit.Assertions;
with AUnit.Test_Caller;
with AUnit.Test_Fixtures;
with Escaped;
with Form_Reader;
with Interfaces;

package body Multipart_Tests is

   use Ada.Strings.Unbounded;
   use Appserver;
   use AUnit.Assertions;
   use Interfaces;

   type Fixture is new AUnit.Test_Fixtures.Test_Fixture with null record;

   type Recorder_Reference is access Form_Reader.Recorder;

   Recorder : constant Recorder_Reference := new Form_Reader.Recorder (Header_Capacity => 200);

   --  Returns the parts that a reader parses from Bytes in pieces: Size (Left) is the size of the
   --  next piece if Left bytes are left

   type Cutting is access function (Left : Positive) return Positive;

   function Uncut (Left : Positive) return Positive is (Left);
   function Byte_By_Byte (Left : Positive) return Positive is (Positive'Min (Left, 1));

   Type_Field : Unbounded_String;
   Max_Parts  : constant := 5;

   function Start (Request : HTTP.Request) return HTTP.Response is
   begin
      Recorder.Text := Null_Unbounded_String;
      Recorder.Start (Request, Max_Parts);
      return HTTP.Status_Only (HTTP.No_Content);
   end Start;

   function Read (Bytes : String; Cut : not null Cutting := Uncut'Access) return String is
      Next       : Positive := Bytes'First;
      Size       : Positive;
      Wants_More : Boolean := True;
      Started    : constant String := HTTP.Trials.Responses
        (Start'Access,
         Response_Texts.Request_Text
           ("GET /", "Content-Type: " & To_String (Type_Field) & Response_Texts.New_Line));
   begin
      Assert (Response_Texts.Status (Started), "204", "started");
      while Next <= Bytes'Last and then Wants_More loop
         Size := Cut (Bytes'Last - Next + 1);
         Recorder.Receive (Bytes (Next .. Next + Size - 1), Wants_More);
         Next := Next + Size;
      end loop;
      return To_String (Recorder.Text) & ' ' & Recorder.Result'Image;
   end Read;

   procedure Use_Type (Text : String) is
   begin
      Type_Field := To_Unbounded_String (Text);
   end Use_Type;

   procedure Use_Boundary is
   begin
      Use_Type ("multipart/form-data; boundary=AaB");
   end Use_Boundary;

   procedure Expect (Bytes, Expected : String) is
   begin
      Assert (Read (Escaped (Bytes)), Expected, Bytes);
      Assert (Read (Escaped (Bytes), Byte_By_Byte'Access), Expected, "byte by byte: " & Bytes);
   end Expect;

   Head : constant String := "Content-Disposition: form-data; name=";

   -----------------------
   -- Rules of the RFCs --
   -----------------------

   procedure Forms (T : in out Fixture) is
      pragma Unreferenced (T);
   begin
      Use_Boundary;
      Expect ("--AaB\r\n" & Head & """a""\r\n\r\nhello\r\n--AaB--\r\n",
              "a|-|text/plain:hello; COMPLETE");
      Expect ("--AaB\r\n" & Head & "a\r\n\r\n\r\n--AaB--", "a|-|text/plain:; COMPLETE");
      Expect ("--AaB\r\n" & Head & "a\r\n\r\n--AaB--", "a|-|text/plain:; COMPLETE");
      Expect ("preamble\r\nof two lines\r\n--AaB  \t\r\n" & Head & "a\r\n\r\nx\r\n--AaB--more\r\n"
              & "--AaB\r\n", "a|-|text/plain:x; COMPLETE");
      Expect ("--AaB\r\ncontent-TYPE:  image/png \r\nX: y\r\n" & Head
              & """a b""; filename=""c.png""\r\n\r\n\r\n\r\n--AaB\r\n" & Head
              & "d\r\n\r\ne\r\n--AaB--", "a b|c.png|image/png:" & Escaped ("\r\n")
              & ";d|-|text/plain:e; COMPLETE");
      Expect ("--AaB\r\n" & Head & """q\\""u\\\\o\\te""; filename=""""\r\n\r\n.\r\n--AaB--",
              "q""u\o\te||text/plain:.; COMPLETE");
      Expect ("--AaB\r\n" & Head & "a\r\nContent-Transfer-Encoding: Binary\r\n\r\nx\r\n--AaB--",
              "a|-|text/plain:x; COMPLETE");
   end Forms;

   --  Content that begins like a delimiter

   procedure Almost (T : in out Fixture) is
      pragma Unreferenced (T);
      Content : constant String :=
        "\r\r\n\r\n-\r\n--\r\n--A\r\n--Aa\r\n--a\n--AaB\r\r\n--Aa\r\n-\r\n--";
   begin
      Use_Boundary;
      Expect ("--AaB\r\n" & Head & "a\r\n\r\n" & Content & "\r\n--AaB--",
              "a|-|text/plain:" & Escaped (Content) & "; COMPLETE");
      Expect ("--AaB\r\n" & Head & "a\r\n\r\n--Aa\r\n--AaB--", "a|-|text/plain:--Aa; COMPLETE");
      Expect ("--Aa\r\n--AaB\r\n" & Head & "a\r\n\r\n-\r\n--AaB--",
              "a|-|text/plain:-; COMPLETE");
   end Almost;

   procedure Malformed (T : in out Fixture) is
      pragma Unreferenced (T);

      procedure Refuse (Header : String; Result_Text : String := "MALFORMED") is
      begin
         Expect ("--AaB\r\n" & Header & "\r\n\r\nx\r\n--AaB--", " " & Result_Text);
      end Refuse;
   begin
      Use_Boundary;
      Refuse ("X: y");
      Refuse ("");
      Refuse ("Content-Disposition: attachment; name=a");
      Refuse ("Content-Disposition: form-data");
      Refuse ("Content-Disposition: form-data;");
      Refuse ("Content-Disposition: form-data; filename=a");
      Refuse (Head & "a; name=b");
      Refuse (Head & "a; filename=b; filename=c");
      Refuse (Head & "a\r\n" & Head & "b");
      Refuse (Head & """a");
      Refuse (Head & """a\\""");
      Refuse (Head & "a b");
      Refuse (Head);
      Refuse (Head & "a\r\nno colon");
      Refuse (Head & "a\r\n folded: x");
      Refuse (Head & "a\nX: y");
      Refuse (Head & "a\rX: y");
      Refuse (Head & """a\0""");
      Refuse (Head & "a\r\nContent-Type: a/b\r\nContent-Type: c/d");
      Refuse (Head & "a\r\nContent-Transfer-Encoding: base64");
      Refuse (Ada.Strings.Fixed."*" (201, 'x'), "HEADER_TOO_LONG");
      Refuse (Head & "a\r\nX: " & Ada.Strings.Fixed."*" (200, 'x'), "HEADER_TOO_LONG");
      Expect ("--AaB--\r\n", " MALFORMED");
      Expect ("--AaBc\r\n", " MALFORMED");
      Expect ("--AaB-\r\n", " MALFORMED");
      Expect ("--AaB \r \n", " MALFORMED");
      Expect ("--AaB --", " MALFORMED");
      Expect ("--AaB\n", " MALFORMED");
      Expect ("", " INCOMPLETE");
      Expect ("nothing", " INCOMPLETE");
      Expect ("--AaB\r\n" & Head & "a\r\n\r\nx\r\n--AaBx",
              "a|-|text/plain:x; MALFORMED");
   end Malformed;

   procedure Types (T : in out Fixture) is
      pragma Unreferenced (T);

      procedure Refuse (Text : String) is
      begin
         Use_Type (Text);
         Assert (Read ("--a--"), " NOT_A_FORM", Text);
      end Refuse;

      procedure Take (Text, Boundary : String) is
      begin
         Use_Type (Text);
         Expect ("--" & Boundary & "\r\n" & Head & "a\r\n\r\nx\r\n--" & Boundary & "--",
                 "a|-|text/plain:x; COMPLETE");
      end Take;

      Longest : constant String := Ada.Strings.Fixed."*" (70, 'x');
   begin
      Refuse ("");
      Refuse ("text/plain");
      Refuse ("multipart/form-data");
      Refuse ("multipart/form-data;");
      Refuse ("multipart/form-data; boundary");
      Refuse ("multipart/form-data; boundary=");
      Refuse ("multipart/form-data; boundary=""""");
      Refuse ("multipart/form-data; boundary=""a");
      Refuse ("multipart/form-data; boundary=""a """);
      Refuse ("multipart/form-data; boundary=a; boundary=b");
      Refuse ("multipart/form-data; boundary=a b");
      Refuse ("multipart/form-data, boundary=a");
      Refuse ("multipart/form-databoundary=a");
      Refuse ("multipart/mixed; boundary=a");
      Refuse ("multipart/form-data; boundary=" & Longest & "x");
      Refuse ("multipart/form-data; boundary=""a" & Character'Val (200) & """");
      Take ("multipart/form-data; boundary=" & Longest, Longest);
      Take ("Multipart/Form-Data ; charset=utf-8; BOUNDARY=""a b'()+_,-./:=?z""",
            "a b'()+_,-./:=?z");
      Take ("multipart/form-data;boundary=-", "-");
   end Types;

   procedure Limits (T : in out Fixture) is
      pragma Unreferenced (T);

      function Parts (Count : Natural) return String is
         Text : Unbounded_String;
      begin
         for K in 1 .. Count loop
            Append (Text, "--AaB\r\n" & Head & "a\r\n\r\n\r\n");
         end loop;
         return To_String (Text) & "--AaB--";
      end Parts;

      function Expected (Count : Natural) return String is
        (Ada.Strings.Fixed."*" (Count, "a|-|text/plain:;"));
   begin
      Use_Boundary;
      Expect (Parts (5), Expected (5) & " COMPLETE");
      Expect (Parts (6), Expected (5) & " TOO_MANY_PARTS");
   end Limits;

   -------------
   -- Attacks --
   -------------

   Sample : constant String := Escaped
     ("before\r\n--AaB\r\n" & Head & """first""\r\n\r\none\r\n\r\n--Aa\r\n--AaB \r\n" & Head
      & "second; filename=""f\\"".bin""\r\nContent-Type: a/b\r\n\r\n\r\n-\r\n\0\r\n--AaB\r\n"
      & Head & "third\r\n\r\n\r\n--AaB--\r\nbehind");

   procedure Split (T : in out Fixture) is
      pragma Unreferenced (T);

      First : Positive;

      function At_First (Left : Positive) return Positive is
        (if Left = Sample'Length then First else Left);
   begin
      Use_Boundary;
      declare
         Expected : constant String := Read (Sample);
      begin
         Assert (Ada.Strings.Fixed.Index (Expected, "COMPLETE") > 0, Expected);
         for K in 1 .. Sample'Length - 1 loop
            First := K;
            Assert (Read (Sample, At_First'Unrestricted_Access), Expected, "split at" & K'Image);
         end loop;
         Assert (Read (Sample, Byte_By_Byte'Access), Expected, "byte by byte");
      end;
   end Split;

   procedure Truncated (T : in out Fixture) is
      Last : constant Positive := Ada.Strings.Fixed.Index (Sample, "--AaB--") + 6;

      pragma Unreferenced (T);
   begin
      Use_Boundary;
      for K in 0 .. Last - 1 loop
         Assert
           (Ada.Strings.Fixed.Index (Read (Sample (1 .. K)), " INCOMPLETE") > 0,
            "cut at" & K'Image);
      end loop;
      Assert (Ada.Strings.Fixed.Index (Read (Sample (1 .. Last)), " COMPLETE") > 0, "whole");
   end Truncated;

   --  SplitMix64

   State : Unsigned_64 := 0;

   function Next_Value return Unsigned_64 is
      Z : Unsigned_64;
   begin
      State := State + 16#9E37_79B9_7F4A_7C15#;
      Z := (State xor Shift_Right (State, 30)) * 16#BF58_476D_1CE4_E5B9#;
      Z := (Z xor Shift_Right (Z, 27)) * 16#94D0_49BB_1331_11EB#;
      return Z xor Shift_Right (Z, 31);
   end Next_Value;

   function Random (Count : Positive) return Positive is
     (Positive (1 + Next_Value mod Unsigned_64 (Count)));

   function At_Random (Left : Positive) return Positive is (Random (Positive'Min (Left, 20)));

   type Text is access constant String;

   function "+" (Item : String) return Text is (new String'(Escaped (Item)));

   Pieces : constant array (Positive range <>) of Text :=
     [+"\r\n", +"\r", +"\n", +"--AaB", +"--", +"-", +"\r\n--AaB\r\n", +"\r\n--AaB--", +":", +";",
      +"""", +"\\", +"=", +"name=""x""", +"Content-Disposition: form-data; name=y\r\n", +"\r\n\r\n",
      +" ", +"\t", +"\0"];

   procedure Damaged (T : in out Fixture) is
      use type HTTP.Multipart.Outcome;

      Count : array (HTTP.Multipart.Outcome) of Natural := [others => 0];

      pragma Unreferenced (T);
   begin
      Use_Boundary;
      State := 1;
      for K in 1 .. 50_000 loop
         declare
            Bytes : Unbounded_String := To_Unbounded_String (Sample);
            Place : Positive;
         begin
            for Damage in 1 .. Random (4) loop
               Place := Random (Length (Bytes));
               case Random (4) is
                  when 1 => Replace_Element (Bytes, Place, Character'Val (Random (256) - 1));
                  when 2 => Insert (Bytes, Place, Pieces (Random (Pieces'Length)).all);
                  when 3 => Delete (Bytes, Place, Natural'Min (Place + Random (9), Length (Bytes)));
                  when others =>
                     Insert (Bytes, Place, Ada.Strings.Fixed."*" (Random (90),
                                                                 Element (Bytes, Place)));
               end case;
            end loop;
            declare
               Found : constant String := Read (To_String (Bytes));
            begin
               Count (Recorder.Result) := Count (Recorder.Result) + 1;
               Assert (Read (To_String (Bytes), At_Random'Access), Found, To_String (Bytes));
            end;
         end;
      end loop;
      Assert
        ((for all Result in HTTP.Multipart.Outcome =>
            Result = HTTP.Multipart.Not_A_Form
            or else Count (Result) > (if Result = HTTP.Multipart.Too_Many_Parts then -1 else 100)),
         "all outcomes are common");
   end Damaged;

   package Caller is new AUnit.Test_Caller (Fixture);

   function Suite return AUnit.Test_Suites.Access_Test_Suite is
      Result : constant AUnit.Test_Suites.Access_Test_Suite := AUnit.Test_Suites.New_Suite;

      procedure Add (Name : String; Test : Caller.Test_Method) is
      begin
         Result.Add_Test (Caller.Create ("multipart: " & Name, Test));
      end Add;
   begin
      Add ("forms", Forms'Access);
      Add ("partial delimiters", Almost'Access);
      Add ("malformed", Malformed'Access);
      Add ("types", Types'Access);
      Add ("limits", Limits'Access);
      Add ("split at each byte", Split'Access);
      Add ("truncated at each byte", Truncated'Access);
      Add ("fuzzed", Damaged'Access);
      return Result;
   end Suite;

end Multipart_Tests;
