--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

with Ada.Strings.Fixed;
with AUnit.Assertions;
with AUnit.Test_Caller;
with AUnit.Test_Fixtures;
with Escaped;
with Parsed;

package body Parser_Tests is

   use AUnit.Assertions;
   use Ada.Strings.Fixed;

   type Fixture is new AUnit.Test_Fixtures.Test_Fixture with null record;

   --  Checks that Input has this outcome, regardless of how its bytes are split

   procedure Has (Input, Outcome : String) is
      Bytes : constant String := Escaped (Input);
   begin
      Assert (Parsed.Outcome (Bytes, Parsed.Small), Escaped (Outcome), Input);
      Assert
        (Parsed.Outcome (Bytes, Parsed.Small, Parsed.Byte_By_Byte'Access), Escaped (Outcome),
         "byte by byte: " & Input);
   end Has;

   procedure Refused (Input : String; Status : Positive := 400) is
   begin
      Has (Input, "refused" & Status'Image);
   end Refused;

   Host : constant String := "Host: h\r\n";

   procedure Header_Refused (Field : String; Status : Positive := 400) is
   begin
      Refused ("GET / HTTP/1.1\r\n" & Host & Field & "\r\n\r\n", Status);
      Refused ("GET / HTTP/1.1\r\n" & Field & "\r\n" & Host & "\r\n", Status);
   end Header_Refused;

   procedure Lines (T : in out Fixture) is
      pragma Unreferenced (T);
   begin
      Has ("", "all");
      Has ("GET / HTTP/1.1\r\nHost: h\r\n\r\n", "GET /?|h|\nall");
      Has ("\r\n\r\nGET / HTTP/1.1\r\nHost: h\r\n\r\n\r\n", "GET /?|h|\nall");
      Has ("GET / HTTP/1.1\r\nHost: h\r\n\r", "incomplete");
      Has ("\r", "incomplete");
      Refused ("\n");
      Refused ("\rGET / HTTP/1.1\r\nHost: h\r\n\r\n");
      Refused ("GET / HTTP/1.1\nHost: h\n\n");
      Refused ("GET / HTTP/1.1\r\nHost: h\n\r\n");
      Refused ("GET / HTTP/1.1\r\nHost: h\r\r\n\r\n");
      Refused ("GET / HTTP/1.1\r\nHost: h\r\nA: b\rc\r\n\r\n");
      Refused ("GET / HTTP/1.1\r\n" & Host & "\n");
   end Lines;

   procedure Request_Lines (T : in out Fixture) is
      pragma Unreferenced (T);
   begin
      for Method in 1 .. 7 loop
         declare
            Names : constant String := "GET    HEAD   POST   PUT    DELETE PATCH  OPTIONS";
            Name  : constant String :=
              Trim (Names (Method * 7 - 6 .. Natural'Min (Method * 7, Names'Last)),
                    Ada.Strings.Both);
         begin
            Has (Name & " /x HTTP/1.1\r\nHost: h\r\n\r\n",
                 (if Name = "HEAD" then "GET (HEAD)" else Name) & " /x?|h|\nall");
         end;
      end loop;
      Refused ("get / HTTP/1.1\r\n", 501);
      Refused ("GETS / HTTP/1.1\r\n", 501);
      Refused ("CONNECT h:1 HTTP/1.1\r\n", 501);
      Refused ("TRACE / HTTP/1.1\r\n", 501);
      Refused ("G(T / HTTP/1.1\r\n");
      Refused (" GET / HTTP/1.1\r\n");
      Refused ("GET  / HTTP/1.1\r\n");
      Refused ("GET /  HTTP/1.1\r\n");
      Refused ("GET\t/ HTTP/1.1\r\n");
      Refused ("GET / HTTP/1.1 \r\n");
      Refused ("GET / a HTTP/1.1\r\n");
      Refused ("GET /\r\n");
      Refused ("GET / \r\n");
      Refused ("GET HTTP/1.1\r\n");
      Refused ("GET  HTTP/1.1\r\n");
      Refused ("x\r\n");
   end Request_Lines;

   procedure Versions (T : in out Fixture) is
      pragma Unreferenced (T);
   begin
      Has ("GET / HTTP/1.0\r\n\r\n", "GET /?|||last|old\nall");
      Has ("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", "GET /?|||old\nall");
      Has ("GET / HTTP/1.7\r\nHost: h\r\n\r\n", "GET /?|h|\nall");
      Refused ("GET / HTTP/2.0\r\n", 505);
      Refused ("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505);
      Refused ("GET / HTTP/0.9\r\n", 505);
      Refused ("GET / http/1.1\r\n");
      Refused ("GET / HTTP/1.10\r\n");
      Refused ("GET / HTTP/11\r\n");
      Refused ("GET / HTTP/1,1\r\n");
      Refused ("GET / HTTP/a.1\r\n");
      Refused ("GET / HTTPS/1.1\r\n");
   end Versions;

   procedure Targets (T : in out Fixture) is

      procedure Is_Target (Target, Found : String; Name : String := "h") is
      begin
         Has ("GET " & Target & " HTTP/1.1\r\nHost: h\r\n\r\n",
              "GET " & Found & '|' & Name & "|\nall");
      end Is_Target;

      procedure Is_None (Target : String; Method : String := "GET") is
      begin
         Refused (Method & ' ' & Target & " HTTP/1.1\r\n");
      end Is_None;

      pragma Unreferenced (T);
   begin
      Is_Target ("/a/b?c=d?e", "/a/b?c=d?e");
      Is_Target ("/?", "/?");
      Is_Target ("//", "//?");
      Is_Target ("/../%2e%2E/%2f/x", "/../../%2f/x?");
      Is_Target ("/%41%7e%2D%20?%41", "/A~-%20?%41");
      Is_Target ("http://e.org", "/?", "e.org");
      Is_Target ("HTTP://e.org:80/a?b", "/a?b", "e.org:80");
      Is_Target ("https://[::1]:80?b", "/?b", "[::1]:80");
      Has ("OPTIONS * HTTP/1.1\r\nHost: h\r\n\r\n", "OPTIONS *?|h|\nall");
      Is_None ("*");
      Is_None ("a");
      Is_None ("?");
      Is_None ("/#");
      --  Characters that browsers do not encode
      Is_Target ("/a|b^[c]?q=A|B&{x}&100%&%zz&\\^`""<>'",
                 "/a|b^[c]?q=A|B&{x}&100%&%zz&\\^`""<>'");
      Is_Target ("/?q=" & Character'Val (16#C3#) & Character'Val (16#A9#),
                 "/?q=" & Character'Val (16#C3#) & Character'Val (16#A9#));
      Is_None ("/?#");
      Is_None ("/?a#b");
      Is_None ("/?\0");
      Is_None ("/?" & ASCII.DEL);
      Is_None ("/{x}");
      Is_None ("/%");
      Is_None ("/%4");
      Is_None ("/%4g");
      Is_None ("/\\");
      Is_None ("/\0");
      Is_None ("/" & Character'Val (16#E4#));
      Is_None ("/" & ASCII.DEL);
      Is_None ("/<a>");
      Is_None ("http:/a");
      Is_None ("http://");
      Is_None ("http:///a");
      Is_None ("http://a@b/");
      Is_None ("http://a:b/");
      Is_None ("http://[::1/");
      Is_None ("ftp://a/");
      Is_None ("://a/");
      Is_None ("a:80");
   end Targets;

   procedure Fields (T : in out Fixture) is
      pragma Unreferenced (T);
   begin
      Has ("GET / HTTP/1.1\r\nhOST:\th \t\r\nEmpty:\r\nA!#$%&'*+-.^_`|~1: " & Character'Val (255)
           & " b\r\n\r\n",
           "GET /?|h|\nall");
      Header_Refused ("A : b");
      Header_Refused ("A\t: b");
      Header_Refused (": b");
      Header_Refused ("A");
      Header_Refused ("A b: c");
      Header_Refused ("A" & Character'Val (16#E4#) & ": c");
      Header_Refused ("A: \0");
      Header_Refused ("A: " & ASCII.DEL);
      Header_Refused ("A: " & ASCII.ESC);
      Refused ("GET / HTTP/1.1\r\n Host: h\r\n\r\n");
      Refused ("GET / HTTP/1.1\r\nHost: h\r\n folded\r\n\r\n");
      Refused ("GET / HTTP/1.1\r\nHost: h\r\nA:\r\n\tfolded\r\n\r\n");
   end Fields;

   procedure Hosts (T : in out Fixture) is

      procedure Is_Host (Name : String) is
      begin
         Has ("GET / HTTP/1.1\r\nHost: " & Name & "\r\n\r\n", "GET /?|" & Name & "|\nall");
      end Is_Host;

      procedure Is_None (Name : String) is
      begin
         Refused ("GET / HTTP/1.1\r\nHost: " & Name & "\r\n\r\n");
      end Is_None;

      pragma Unreferenced (T);
   begin
      Refused ("GET / HTTP/1.1\r\n\r\n");
      Refused ("GET / HTTP/1.1\r\nA: b\r\n\r\n");
      Refused ("GET http://h/ HTTP/1.1\r\n\r\n");
      Refused ("GET http://h%2e/ HTTP/1.1\r\nHost: h\r\n\r\n");
      Refused ("GET / HTTP/1.1\r\nHost: h\r\nHost: h\r\n\r\n");
      Refused ("GET / HTTP/1.0\r\nHost: h\r\nHost: i\r\n\r\n");
      Is_Host ("");
      Is_Host ("a-b.c_d~e:");
      Is_Host ("127.0.0.1:65535");
      Is_Host ("[1234::a.b]:1");
      Is_None ("a,b");
      Is_None ("a b");
      Is_None ("a/b");
      Is_None ("a@b");
      Is_None ("a:b");
      Is_None ("a%2eb");
      Is_None ("a%");
      Is_None ("[]");
      Is_None ("[::1");
      Is_None ("[g]");
      Is_None ("[::1]a");
      Is_None ("http://a");
   end Hosts;

   procedure Lengths (T : in out Fixture) is

      procedure Length (Value, Content, Outcome : String) is
      begin
         Has ("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: " & Value & "\r\n\r\n" & Content,
              Outcome);
      end Length;

      pragma Unreferenced (T);
   begin
      Length ("3", "abc", "POST /?|h|abc\nall");
      Length ("0003", "abc", "POST /?|h|abc\nall");
      Length ("0", "", "POST /?|h|\nall");
      Length ("3", "ab", "incomplete");
      Length ("3", "abcGET / HTTP/1.0\r\n\r\n", "POST /?|h|abc\nGET /?|||last|old\nall");
      Length ("3", "\r\n\r", "POST /?|h|\r\n\r\nall");
      Length ("", "", "refused 400");
      Length ("-1", "", "refused 400");
      Length ("+1", "", "refused 400");
      Length ("1,1", "", "refused 400");
      Length ("1 1", "", "refused 400");
      Length ("0x1", "", "refused 400");
      Length ("1\r\nContent-Length: 1", "a", "refused 400");
      Length ("1\r\nContent-Length: 2", "a", "refused 400");
      Length ("300", 300 * 'x', "POST /?|h|" & 300 * 'x' & "\nall");
      Length ("301", "", "refused 413");
      Length ("2147483648", "", "refused 413");
      Length ("18446744073709551616", "", "refused 413");
      Length (100 * '9', "", "refused 413");
      Has ("GET / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\n\r\nx", "GET /?|h|x\nall");
   end Lengths;

   procedure Chunks (T : in out Fixture) is

      Start : constant String := "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n";

      procedure Content (Chunks, Content : String) is
      begin
         Has (Start & Chunks, "POST /?|h|" & Content & "\nall");
         Has (Start & Chunks & Start & Chunks,
              "POST /?|h|" & Content & "\nPOST /?|h|" & Content & "\nall");
      end Content;

      procedure None (Chunks : String; Status : Positive := 400) is
      begin
         Refused (Start & Chunks, Status);
      end None;

      pragma Unreferenced (T);
   begin
      Content ("0\r\n\r\n", "");
      Content ("3\r\nabc\r\n0\r\n\r\n", "abc");
      Content ("00a\r\n0123456789\r\n1\r\n\r\r\n000\r\n\r\n", "0123456789\r");
      Content ("A;a=b;c=""d e""\r\n0123456789\r\n0;x\r\n\r\n", "0123456789");
      Content ("1 \t;a\r\nx\r\n0 ; b = c\r\n\r\n", "x");
      Content ("1\r\nx\r\n0\r\nTrailer: y\r\nA:\r\n\r\n", "x");
      Content ("5\r\n0\r\n\r\n\r\n0\r\n\r\n", "0\r\n\r\n");
      Has (Start & "3\r\nabc\r\n0\r\n", "incomplete");
      Has (Start & "3\r\nab", "incomplete");
      None ("\r\n");
      None ("g\r\n");
      None ("-1\r\n");
      None ("0x1\r\n");
      None ("+1\r\n");
      None (" 1\r\n");
      None ("1 \r\n");
      None ("1 2;a\r\n");
      None ("1\n");
      None ("1\r\nx\n");
      None ("1\r\nxy");
      None ("1\r\nx\r\r\n");
      None ("1;\0\r\n");
      None ("1;\r\n");
      None ("1;;a\r\n");
      None ("1;a;\r\n");
      None ("1;=b\r\n");
      None ("1;a=\r\n");
      None ("1;a=b c\r\n");
      None ("1;a=""b\r\n");
      None ("1;a=""b\\""\r\n");
      None ("1;a=""b""c\r\n");
      None ("1;a b\r\n");
      None ("1;a \r\n");
      None ("1;a(\r\n");
      Content ("1;a=""b\\"";"";c\r\nx\r\n0\r\n\r\n", "x");
      None ("0\r\nA b\r\n");
      None ("0\r\n a: b\r\n");
      None ("0\r\n\n");
      None (300 * '0');
      None ("1;" & 300 * 'e');
      None ("12D\r\n", 413);
      None ("12C\r\n" & 300 * 'x' & "\r\n1\r\n", 413);
      None ("FFFFFFFF\r\n", 413);
      None ("10000000000000001\r\n", 413);
      --  Extensions are skipped, but their length is limited
      None (100 * ("1;" & 200 * 'e' & "\r\nx\r\n"));
      None ("0\r\n" & 100 * ("A: " & 200 * 'x' & "\r\n"));
      --  Small chunks without extensions do not count as overhead
      Content (300 * "01\r\nx\r\n" & "0\r\n\r\n", 300 * 'x');
   end Chunks;

   --  Requests that two servers might interpret differently (RFC 9112, 6.1, 6.3 and 11.2)

   procedure Smuggling (T : in out Fixture) is

      procedure Refuse (Fields : String; Status : Positive := 400; Version : String := "1.1") is
      begin
         Refused
           ("POST / HTTP/" & Version & "\r\nHost: h\r\n" & Fields
            & "\r\n\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: h\r\n\r\n", Status);
      end Refuse;

      pragma Unreferenced (T);
   begin
      Refuse ("Content-Length: 5\r\nTransfer-Encoding: chunked");
      Refuse ("Transfer-Encoding: chunked\r\nContent-Length: 5");
      Refuse ("Transfer-Encoding: x\r\nContent-Length: 5");
      Refuse ("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked");
      Refuse ("Transfer-Encoding: chunked\r\nTransfer-Encoding: identity");
      Refuse ("Transfer-Encoding: chunked", Version => "1.0");
      Refuse ("Transfer-Encoding : chunked");
      Refuse ("Transfer-Encoding:\r\n chunked");
      Refuse ("Transfer-Encoding: \0chunked");
      Refuse ("Transfer-Encoding: chunked, chunked", 501);
      Refuse ("Transfer-Encoding: chunked, gzip");
      Refuse ("Transfer-Encoding: gzip, chunked", 501);
      Refuse ("Transfer-Encoding: gzip");
      Refuse ("Transfer-Encoding: xchunked");
      Refuse ("Transfer-Encoding: ""chunked""");
      Refuse ("Transfer-Encoding: chunked;a");
      Refuse ("Transfer-Encoding:");
      Refuse ("Transfer-Encoding: identity");
      Refuse ("Content-Length: 0\rTransfer-Encoding: chunked");
      Refuse ("X: y\nTransfer-Encoding: chunked");
      Has ("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: CHUNKED\t\r\n\r\n0\r\n\r\n",
           "POST /?|h|\nall");
   end Smuggling;

   procedure Connections (T : in out Fixture) is

      procedure Closes (Field : String; Closes : Boolean := True) is
      begin
         Has ("GET / HTTP/1.1\r\nHost: h\r\n" & Field & "\r\n\r\n",
              "GET /?|h|" & (if Closes then "|last" else "") & "\nall");
      end Closes;

      pragma Unreferenced (T);
   begin
      Closes ("Connection: close");
      Closes ("cONNECTION: CLOSE");
      Closes ("Connection: a, close ,b");
      Closes ("Connection: a\r\nConnection: close");
      Closes ("Connection: keep-alive, close");
      Closes ("Connection:close,");
      Closes ("Connection: ,\t close");
      Closes ("Connection: closed", False);
      Closes ("Connection: not close", False);
      Closes ("Connection: keep-alive", False);
      Closes ("Connection:", False);
      Closes ("Proxy-Connection: close", False);
      Header_Refused ("Expect: something", 417);
      Header_Refused ("Expect:", 417);
      Closes ("Expect: 100-Continue", False);
   end Connections;

   procedure Limits (T : in out Fixture) is
      Longest : constant String := "GET /" & 184 * 'a' & " HTTP/1.1\r\n";
      --  200 bytes

      function Filled (Bytes : Natural) return String is
        ("GET / HTTP/1.1\r\nHost: h\r\nA: " & (Bytes - 32) * 'x' & "\r\n\r\n");
      --  Returns a header with this number of bytes

      pragma Unreferenced (T);
   begin
      Assert (Escaped (Longest)'Length = 200, "as said");
      Assert (Escaped (Filled (600))'Length = 600, "as said");
      Has (Longest & Host & "\r\n", "GET /" & 184 * 'a' & "?|h|\nall");
      Refused ("GET /" & 185 * 'a' & " HTTP/1.1\r\n", 414);
      Refused (200 * 'x', 414);
      Has (199 * 'x', "incomplete");
      Refused ("GET / HTTP/1.1\r\n" & 600 * 'x', 431);
      Has (Filled (600), "GET /?|h|\nall");
      Refused (Filled (601), 431);
      --  If a malformed line precedes the line that exceeds the limit, the malformed line is
      --  rejected
      Refused ("GET / HTTP/1.1\r\n:\r\n" & 600 * 'x', 400);
      Assert
        (Parsed.Outcome
           (Escaped ("GET / HTTP/1.1\r\n" & 99 * "a:\r\n" & "Host:\r\n\r\n")),
         Escaped ("GET /?||\nall"), "100 lines");
      Assert
        (Parsed.Outcome (Escaped ("GET / HTTP/1.1\r\n" & 100 * "a:\r\n" & "Host:\r\n\r\n")),
         "refused 431", "101 lines");
   end Limits;

   package Caller is new AUnit.Test_Caller (Fixture);

   function Suite return AUnit.Test_Suites.Access_Test_Suite is
      Result : constant AUnit.Test_Suites.Access_Test_Suite := AUnit.Test_Suites.New_Suite;

      procedure Add (Name : String; Test : Caller.Test_Method) is
      begin
         Result.Add_Test (Caller.Create ("parser: " & Name, Test));
      end Add;
   begin
      Add ("ends of lines", Lines'Access);
      Add ("request lines", Request_Lines'Access);
      Add ("versions", Versions'Access);
      Add ("targets", Targets'Access);
      Add ("fields", Fields'Access);
      Add ("hosts", Hosts'Access);
      Add ("lengths", Lengths'Access);
      Add ("chunks", Chunks'Access);
      Add ("smuggled requests", Smuggling'Access);
      Add ("connections and expectations", Connections'Access);
      Add ("limits", Limits'Access);
      return Result;
   end Suite;

end Parser_Tests;
