--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

with Ada.Strings.Fixed;
with Appserver.HTTP.Trials;
with Appserver.IP_Addresses;
with AUnit.Assertions;
with AUnit.Test_Caller;
with AUnit.Test_Fixtures;
with Dice;
with Escaped;
with Proxy_Service;

package body Proxy_Tests is

   use Appserver;
   use AUnit.Assertions;
   use Dice;
   use type IP_Addresses.Address;

   type Fixture is new AUnit.Test_Fixtures.Test_Fixture with null record;

   ---------------
   -- Addresses --
   ---------------

   procedure Addresses (T : in out Fixture) is
      pragma Unreferenced (T);

      procedure Reads (Text, Image : String) is
      begin
         Assert (IP_Addresses.Is_Address (Text), Text & " is none");
         Assert
           (IP_Addresses.Image (IP_Addresses.Value (Text)) = Image,
            Text & " is " & IP_Addresses.Image (IP_Addresses.Value (Text)));
         Assert (IP_Addresses.Value (Image) = IP_Addresses.Value (Text), Image & ", again");
      end Reads;

      procedure Refuses (Text : String) is
      begin
         Assert (not IP_Addresses.Is_Address (Text), '"' & Text & """ is one");
      end Refuses;
   begin
      Reads ("192.0.2.1", "192.0.2.1");
      Reads ("0.0.0.0", "0.0.0.0");
      Reads ("255.255.255.255", "255.255.255.255");
      Reads ("::ffff:192.0.2.1", "192.0.2.1");
      Reads ("::", "::");
      Reads ("::1", "::1");
      Reads ("1::", "1::");
      Reads ("2001:DB8:0:0:1:0:0:1", "2001:db8::1:0:0:1");
      Reads ("2001:db8:0:1:1:1:1:1", "2001:db8:0:1:1:1:1:1");
      Reads ("1:2:3:4:5:6:7::", "1:2:3:4:5:6:7:0");
      Reads ("::2:3:4:5:6:7:8", "0:2:3:4:5:6:7:8");
      Reads ("fe80::0001:a0b", "fe80::1:a0b");
      Reads ("64:ff9b::192.0.2.33", "64:ff9b::c000:221");
      Reads ("1:2:3:4:5:6:1.2.3.4", "1:2:3:4:5:6:102:304");
      for Text of Piece_List'
        [+"", +"1", +"1.2.3", +"1.2.3.4.5", +"256.1.1.1", +"01.2.3.4", +"1.2.3.4 ", +"1..2.3",
         +"a.b.c.d", +":", +":::", +"1:2", +"1::2::3", +"1:2:3:4:5:6:7:8:9", +"12345::", +"::g",
         +"1:2:3:4:5:6:7:8::", +"::1:2:3:4:5:6:7:8", +":1::", +"1:", +"::1.2.3", +"1.2.3.4::",
         +"1:2:3:4:5:6:7:1.2.3.4", +"[::1]", +"fe80::1%eth0", +"1.2.3.4:80", +"::1/64"]
      loop
         Refuses (Text.all);
      end loop;
   end Addresses;

   procedure Blocks (T : in out Fixture) is
      pragma Unreferenced (T);

      procedure Holds (Block, Address : String; Expected : Boolean := True) is
      begin
         Assert
           (IP_Addresses.Contains (IP_Addresses.Block (Block), IP_Addresses.Value (Address))
            = Expected, Block & " and " & Address);
      end Holds;

      procedure Refuses (Text : String) is
      begin
         Assert
           (IP_Addresses.Contains (IP_Addresses.Block (Text), IP_Addresses.No_Address), "");
         Assert (False, Text & " is a block");
      exception
         when IP_Addresses.Address_Error => null;
      end Refuses;
   begin
      Holds ("10.0.0.0/8", "10.255.0.1");
      Holds ("10.0.0.0/8", "11.0.0.0", False);
      Holds ("10.9.8.7/9", "10.127.0.0");
      Holds ("10.9.8.7/9", "10.128.0.0", False);
      Holds ("192.0.2.1", "192.0.2.1");
      Holds ("192.0.2.1", "192.0.2.2", False);
      Holds ("192.0.2.1/32", "192.0.2.1");
      Holds ("0.0.0.0/0", "203.0.113.1");
      Holds ("0.0.0.0/0", "::1", False);
      Holds ("::/0", "::1");
      Holds ("::/0", "203.0.113.1", False);
      Holds ("::ffff:10.0.0.0/104", "10.1.2.3");
      Holds ("2001:db8::/33", "2001:db8:7fff::");
      Holds ("2001:db8::/33", "2001:db8:8000::", False);
      Refuses ("10.0.0.0/33");
      Refuses ("10.0.0.0/");
      Refuses ("10.0.0.0/8/8");
      Refuses ("10.0.0.0/-1");
      Refuses ("::/129");
      Refuses ("/8");
      Refuses ("");
   end Blocks;

   -------------
   -- Proxies --
   -------------

   New_Line : constant String := [ASCII.CR, ASCII.LF];

   function Reported
     (Handle : HTTP.Handler; Peer, Fields : String) return String
   is
      Response : constant String := HTTP.Trials.Responses
        (Handle, "GET / HTTP/1.1" & New_Line & "Host: own" & New_Line & Fields & New_Line,
         IP_Addresses.Value (Peer));
      Blank  : constant Natural :=
        Ada.Strings.Fixed.Index (Response, New_Line & New_Line);
   begin
      return
        (if Ada.Strings.Fixed.Index (Response, "HTTP/1.1 200 ") = 1
         then Response (Blank + 4 .. Response'Last) else Response);
   end Reported;

   procedure Names (Handle : HTTP.Handler; Peer, Fields, Expected : String) is
      Found : constant String := Reported (Handle, Peer, Escaped (Fields));
   begin
      Assert (Found = Expected, Peer & ": " & Fields & " names " & Found);
   end Names;

   procedure By_RFC_7239 (T : in out Fixture) is
      pragma Unreferenced (T);

      procedure Names (Fields, Expected : String; Peer : String := "10.0.0.1") is
      begin
         Names (Proxy_Service.Forwarded'Access, Peer, Fields, Expected);
      end Names;
   begin
      Names ("", "10.0.0.1 http own");
      Names ("Forwarded: for=192.0.2.1\r\n", "192.0.2.1 http own");
      Names
        ("Forwarded: For=""[2001:db8::7]:4711"";Proto=HTTPS;Host=""e.org:8443"";by=_x\r\n",
         "2001:db8::7 https e.org:8443");
      Names ("Forwarded: for = 192.0.2.1\r\n", "10.0.0.1 http own");
      Names ("forwarded:for=""192.0.2.1:80"" ; proto=https\r\n", "192.0.2.1 https own");

      --  The rightmost address that is not trusted, with its scheme and host
      Names
        ("Forwarded: for=1.1.1.1;proto=https, for=192.0.2.1;host=a, for=10.0.0.2;host=b\r\n",
         "192.0.2.1 http a");
      Names
        ("Forwarded: for=1.1.1.1\r\nX: y\r\nForwarded: for=""[2001:db8:aaff::1]""\r\n",
         "1.1.1.1 http own");
      Names ("Forwarded: for=10.0.0.3, for=10.0.0.2\r\n", "10.0.0.3 http own");

      --  Spoofed fields: from a client that is not a proxy, to the left of real elements, in the
      --  other family, and with an unclosed quotation mark
      Names ("Forwarded: for=1.1.1.1;proto=https\r\n", "203.0.113.5 http own", "203.0.113.5");
      Names ("X-Forwarded-For: 1.1.1.1\r\n", "10.0.0.1 http own");
      Names ("Forwarded: for="", for=192.0.2.1\r\n", "192.0.2.1 http own");
      Names ("Forwarded: for=""a\\\r\nForwarded: for=192.0.2.1\r\n", "192.0.2.1 http own");
      Names ("Forwarded: for=""1.1.1.1, for=""192.0.2.1""\r\n", "192.0.2.1 http own");
      Names ("Forwarded: for=192.0.2.1;host=""a/../b""\r\n", "192.0.2.1 http own");
      Names ("Forwarded: for=192.0.2.1;host=""a b""\r\n", "192.0.2.1 http own");

      --  An element without a valid address
      Names ("Forwarded: for=1.1.1.1, for=unknown\r\n", "10.0.0.1 http own");
      Names ("Forwarded: for=1.1.1.1, for=_hidden, for=10.0.0.2\r\n", "10.0.0.2 http own");
      Names ("Forwarded: for=1.1.1.1, proto=https\r\n", "10.0.0.1 http own");
      Names ("Forwarded: for=1.1.1.1, for=192.0.2.1;for=192.0.2.2\r\n", "10.0.0.1 http own");
      Names ("Forwarded: for=1.1.1.1,\r\n", "10.0.0.1 http own");
      Names ("Forwarded: for=192.0.2.1:port\r\n", "10.0.0.1 http own");
      Names ("Forwarded: for=[::1\r\n", "10.0.0.1 http own");
      Names ("Forwarded: \r\n", "10.0.0.1 http own");
   end By_RFC_7239;

   procedure By_Older_Fields (T : in out Fixture) is
      pragma Unreferenced (T);

      procedure Names (Fields, Expected : String; Peer : String := "127.0.0.1") is
      begin
         Names (Proxy_Service.X_Forwarded'Access, Peer, Fields, Expected);
      end Names;
   begin
      Names ("", "127.0.0.1 http own");
      Names
        ("X-Forwarded-For: 192.0.2.1\r\nX-Forwarded-Proto: https\r\nX-Forwarded-Host: e.org\r\n",
         "192.0.2.1 https e.org");
      Names ("X-Forwarded-For: 1.1.1.1, 192.0.2.1, 10.0.0.9\r\n", "192.0.2.1 http own");
      Names ("X-Forwarded-For: 1.1.1.1\r\nx-forwarded-for: 192.0.2.1\r\n", "192.0.2.1 http own");
      Names ("X-Forwarded-For: 2001:db8::7\r\n", "2001:db8::7 http own");
      Names ("X-Forwarded-For: [2001:db8::7]:1\r\n", "2001:db8::7 http own");
      Names ("X-Forwarded-For: 192.0.2.1:4711\r\n", "192.0.2.1 http own");

      --  The element with the same number from the right as in the list of addresses, or the only
      --  one of a shorter list
      Names
        ("X-Forwarded-For: 192.0.2.1, 10.0.0.9\r\nX-Forwarded-Proto: https, http\r\n",
         "192.0.2.1 https own");
      Names
        ("X-Forwarded-For: 192.0.2.1, 10.0.0.9\r\nX-Forwarded-Proto: https\r\n",
         "192.0.2.1 https own");
      Names
        ("X-Forwarded-For: 1.1.1.1, 192.0.2.1\r\nX-Forwarded-Proto: https, http\r\n",
         "192.0.2.1 http own");

      --  Spoofed elements
      Names
        ("X-Forwarded-For: 1.1.1.1\r\nX-Forwarded-Proto: https\r\nX-Forwarded-Host: evil\r\n",
         "203.0.113.5 http own", "203.0.113.5");
      Names ("X-Forwarded-Proto: https\r\nX-Forwarded-Host: evil\r\n", "127.0.0.1 http own");
      Names ("Forwarded: for=1.1.1.1\r\n", "127.0.0.1 http own");
      Names ("X-Forwarded-For: "", 192.0.2.1\r\n", "192.0.2.1 http own");
      Names ("X-Forwarded-For: 1.1.1.1, x, 10.0.0.9\r\n", "10.0.0.9 http own");
      Names ("X-Forwarded-For: 192.0.2.1\r\nX-Forwarded-Host: a b\r\n", "192.0.2.1 http own");
   end By_Older_Fields;

   -------------
   -- Fuzzing --
   -------------

   Cases : constant := 20_000;

   Pieces : constant Piece_List :=
     [+"for=", +"1.1.1.1", +"10.0.0.1", +", ", +",", +";", +"""", +"\", +"proto=https", +"host=",
      +"[", +"]", +"::1", +":", +" ", +"=", +"unknown", +"X", +"\""", +"2001:db8:aa00::1", +"99",
      +[Character'Val (255)], +"Forwarded"];

   --  Text that a client sends before the proxies' own elements has no effect

   procedure Prefixes (T : in out Fixture) is
      pragma Unreferenced (T);
   begin
      for K in 1 .. Cases loop
         declare
            Text : constant String := Joined (Pieces, 12);
            Ends : constant String :=
              (if Next (2) = 0 then ", " else New_Line & "Forwarded: ");
            Old  : constant String :=
              (if Ends = ", " then Ends else New_Line & "X-Forwarded-For: ");
         begin
            Assert
              (Reported
                 (Proxy_Service.Forwarded'Access, "10.0.0.1",
                  "Forwarded: " & Text & Ends & "for=""192.0.2.1:1"";host=a, for=10.0.0.2"
                  & New_Line) = "192.0.2.1 http a", Text);
            Assert
              (Reported
                 (Proxy_Service.X_Forwarded'Access, "10.0.0.1",
                  "X-Forwarded-For: " & Text & Old & "192.0.2.1, 10.0.0.2" & New_Line)
               = "192.0.2.1 http own", Text);
            Assert
              (Ada.Strings.Fixed.Index
                 (Reported
                    (Proxy_Service.Forwarded'Access, "10.0.0.1",
                     "Forwarded: " & Text & New_Line), "HTTP/") = 0, "no answer: " & Text);
         end;
      end loop;
   end Prefixes;

   package Caller is new AUnit.Test_Caller (Fixture);

   function Suite return AUnit.Test_Suites.Access_Test_Suite is
      Result : constant AUnit.Test_Suites.Access_Test_Suite := AUnit.Test_Suites.New_Suite;
   begin
      Result.Add_Test (Caller.Create ("addresses: texts", Addresses'Access));
      Result.Add_Test (Caller.Create ("addresses: blocks", Blocks'Access));
      Result.Add_Test (Caller.Create ("proxies: Forwarded", By_RFC_7239'Access));
      Result.Add_Test (Caller.Create ("proxies: X-Forwarded", By_Older_Fields'Access));
      Result.Add_Test (Caller.Create ("proxies: what clients invent", Prefixes'Access));
      return Result;
   end Suite;

end Proxy_Tests;
