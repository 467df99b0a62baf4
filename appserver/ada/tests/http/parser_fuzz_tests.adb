--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

with Ada.Strings.Fixed;
with Ada.Strings.Unbounded;
with AUnit.Assertions;
with AUnit.Test_Caller;
with AUnit.Test_Fixtures;
with Escaped;
with Interfaces;
with Parsed;
with Reference_Reader;

package body Parser_Fuzz_Tests is

   use Ada.Strings.Unbounded;
   use AUnit.Assertions;
   use Interfaces;

   type Fixture is new AUnit.Test_Fixtures.Test_Fixture with null record;

   Cases : constant := 100_000;

   --------------------
   -- Random numbers --
   --------------------

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

   function At_Random (Left : Positive) return Positive is
     (if Random (4) = 1 then Left else Random (Positive'Min (Left, 40)));

   ------------
   -- Corpus --
   ------------

   type Text is access constant String;

   function "+" (Item : String) return Text is (new String'(Escaped (Item)));

   Requests : constant array (Positive range <>) of Text :=
     [+"GET / HTTP/1.1\r\nHost: h\r\n\r\n",
      +"GET /a/b%20c?d=e&f=%41 HTTP/1.1\r\nHost: e.org:80\r\nAccept: */*\r\n\r\n",
      +"GET /%61%2f HTTP/1.1\r\nHost: [::1]:80\r\nConnection: close\r\n\r\n",
      +"HEAD http://e.org/x HTTP/1.1\r\nHost: h\r\nA: \t b c \t\r\n\r\n",
      +"GET https://e.org?q HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
      +"OPTIONS * HTTP/1.1\r\nHost:\r\n\r\n",
      +"POST /p HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhello",
      +"PUT /p HTTP/1.1\r\nContent-Length: 0012\r\nHost: h\r\n\r\nGET / HTTP/1",
      +"POST /p HTTP/1.0\r\nContent-Length: 0\r\n\r\n",
      +("POST /c HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
        & "5\r\nhello\r\n0\r\n\r\n"),
      +("PATCH /c HTTP/1.1\r\nHost: h\r\ntransfer-encoding:CHUNKED\r\nExpect: 100-continue\r\n\r\n"
        & "1;a=b\r\nx\r\n00B\r\n0\r\n\r\nGET / \r\r\n0;e\r\nT: u\r\n\r\n"),
      +"DELETE /d HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\nConnection: a,b\r\n\r\n0\r\n"];

   Pieces : constant array (Positive range <>) of Text :=
     [+"\r\n", +"\n", +"\r", +"\r\n\r\n", +" ", +"\t", +":", +"\0", +"%", +"/", +"?", +"#", +";",
      +"0\r\n\r\n", +"1\r\nx\r\n", +"Host: i\r\n", +"Content-Length: 5\r\n",
      +"Content-Length: 0\r\n",
      +"Transfer-Encoding: chunked\r\n", +"Transfer-Encoding: gzip\r\n", +"Connection: close\r\n",
      +" HTTP/1.1\r\n", +"HTTP/1.0", +"HTTP/2.0", +"GET / HTTP/1.1\r\n", +"chunked", +"\\", +",",
      +"99999999999999999999", +"FFFFFFFF", +"-", +"+", +[Character'Val (255)]];

   ------------
   -- Damage --
   ------------

   procedure Damage (Bytes : in out Unbounded_String) is
      Size  : constant Natural := Length (Bytes);
      First : Positive;
      Last  : Natural;
   begin
      if Size = 0 then
         Bytes := To_Unbounded_String (Requests (1).all);
         return;
      end if;
      First := Random (Size);
      Last  := Natural'Min (Size, First + Random (12) - 1);
      case Random (8) is
         when 1 =>
            Replace_Element (Bytes, First, Character'Val (Random (256) - 1));
         when 2 =>
            Delete (Bytes, First, (if Random (2) = 1 then Last else Size));
         when 3 | 4 =>
            Insert (Bytes, First, Pieces (Random (Pieces'Length)).all);
         when 5 =>
            Insert (Bytes, First, Slice (Bytes, First, Last));
         when 6 =>
            Replace_Slice
              (Bytes, First, Natural'Min (Size, First + 1), Pieces (Random (Pieces'Length)).all);
         when 7 =>
            Delete (Bytes, First, Size);
            Append (Bytes, Requests (Random (Requests'Length)).all);
         when others =>
            Insert
              (Bytes, First,
               Ada.Strings.Fixed."*" (Random (30) * Random (30), Element (Bytes, First)));
      end case;
   end Damage;

   function Damaged return String is
      Bytes : Unbounded_String;
   begin
      for K in 1 .. Random (3) loop
         Append (Bytes, Requests (Random (Requests'Length)).all);
      end loop;
      for K in 1 .. Random (4) - 1 loop
         Damage (Bytes);
      end loop;
      return To_String (Bytes);
   end Damaged;

   -----------
   -- Tests --
   -----------

   procedure Cut (T : in out Fixture) is
      pragma Unreferenced (T);
   begin
      State := 1;
      for K in 1 .. Cases loop
         declare
            Bytes : constant String := Damaged;
            Found : constant String := Parsed.Outcome (Bytes, Parsed.Small);
         begin
            Assert
              (Parsed.Outcome (Bytes, Parsed.Small, Parsed.Byte_By_Byte'Access), Found,
               "byte by byte: " & Bytes);
            Assert
              (Parsed.Outcome (Bytes, Parsed.Small, At_Random'Access), Found,
               "in pieces: " & Bytes);
         end;
      end loop;
   end Cut;

   procedure Streamed (T : in out Fixture) is
      pragma Unreferenced (T);
   begin
      State := 3;
      for K in 1 .. Cases loop
         declare
            Bytes : constant String := Damaged;
            Found : constant String := Parsed.Outcome (Bytes, Parsed.Small);
         begin
            Assert
              (Parsed.Streamed_Outcome (Bytes, Parsed.Small, At_Random'Access), Found,
               "as a stream: " & Bytes);
         end;
      end loop;
   end Streamed;

   --  Returns an outcome without the status of a rejection

   function Requests_Of (Outcome : String) return String is
     (Outcome
        (Outcome'First .. Ada.Strings.Fixed.Index
                            (Outcome, [ASCII.LF], Going => Ada.Strings.Backward)));

   function Verdict_Of (Outcome : String) return Character is
     (Outcome (Requests_Of (Outcome)'Last + 1));

   --  The parser may reject a message before its header is complete, or because it is too long

   procedure Compared (T : in out Fixture) is
      Count : array (Character) of Natural := [others => 0];

      pragma Unreferenced (T);
   begin
      State := 2;
      for K in 1 .. Cases loop
         declare
            Bytes    : constant String := Damaged;
            Found    : constant String := Parsed.Outcome (Bytes);
            Expected : constant String := Reference_Reader.Outcome (Bytes, 65_536);
         begin
            Assert (Requests_Of (Found), Requests_Of (Expected), "requests of: " & Bytes);
            Assert
              (Verdict_Of (Found) = Verdict_Of (Expected)
               or else (Verdict_Of (Found) = 'r' and then Verdict_Of (Expected) = 'i'),
               Found & " instead of " & Expected & " for: " & Bytes);
            Count (Verdict_Of (Found)) := Count (Verdict_Of (Found)) + 1;
         end;
      end loop;
      Assert ((for all C of String'("air") => Count (C) > Cases / 50), "all outcomes are common");
   end Compared;

   package Caller is new AUnit.Test_Caller (Fixture);

   function Suite return AUnit.Test_Suites.Access_Test_Suite is
      Result : constant AUnit.Test_Suites.Access_Test_Suite := AUnit.Test_Suites.New_Suite;
   begin
      Result.Add_Test (Caller.Create ("parser, fuzzed: cut anywhere", Cut'Access));
      Result.Add_Test (Caller.Create ("parser, fuzzed: as the reference", Compared'Access));
      Result.Add_Test (Caller.Create ("parser, fuzzed: content as a stream", Streamed'Access));
      return Result;
   end Suite;

end Parser_Fuzz_Tests;
