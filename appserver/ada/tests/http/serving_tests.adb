--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

with Ada.Real_Time;
with Ada.Strings.Fixed;
with Ada.Strings.Unbounded;
with Response_Texts;
with Appserver.HTTP;
with AUnit.Assertions;
with AUnit.Test_Caller;
with AUnit.Test_Fixtures;
with GNAT.Sockets;
with Open_Files;
with Test_Clients;
with Test_Service;

package body Serving_Tests is

   use Ada.Real_Time;
   use Ada.Strings.Fixed;
   use Ada.Strings.Unbounded;
   use Response_Texts;
   use Appserver;
   use AUnit.Assertions;
   use Test_Clients;

   End_Line : String renames Test_Clients.New_Line;

   Patient    : constant HTTP.Time_Limits := (Closing => 0.1, others => 600.0);
   Short_Time : constant Duration := 0.3;
   --  For the one limit that a test is about. A busy machine may take longer, also for a client.

   File_Size : constant := 2 ** 23;

   type Fixture is new AUnit.Test_Fixtures.Test_Fixture with null record;

   overriding procedure Set_Up (T : in out Fixture);
   overriding procedure Tear_Down (T : in out Fixture);

   overriding procedure Set_Up (T : in out Fixture) is
      pragma Unreferenced (T);
   begin
      Tested.Start (Patient);
   end Set_Up;

   overriding procedure Tear_Down (T : in out Fixture) is
      pragma Unreferenced (T);
   begin
      Test_Service.Gate.Open;
      Tested.Stop;
   end Tear_Down;

   procedure Restart (Times : HTTP.Time_Limits) is
   begin
      Tested.Stop;
      Tested.Start (Times);
   end Restart;

   --------------
   -- Checking --
   --------------

   procedure Has_Status (Response, Status : String) is
   begin
      Assert (Response'Length > 12, "an answer: " & Response);
      Assert (Response_Texts.Status (Response), Status, "status of " & Response);
      Assert (Field (Response, "Date")'Length = 29, "a date in " & Response);
   end Has_Status;

   procedure Check_Response
     (From : in out Client; Path : String; Status : String := "200"; Content : String := "")
   is
   begin
      From.Ask (Path);
      declare
         Response : constant String := From.Response;
      begin
         Has_Status (Response, Status);
         Assert (Response_Texts.Content (Response), Content, Path);
      end;
   end Check_Response;

   Short : constant String := "always the same";

   procedure Serves_On is
      Another : Client;
   begin
      Another.Connect (Tested.Port);
      Check_Response (Another, "/fixed", Content => Short);
   end Serves_On;

   --  Connects a client, and gets a response. With a short limit for idle connections, a busy
   --  machine may take longer to send the request: then the client connects again.

   procedure Connect_And_Ask (From : in out Client) is
   begin
      for Attempt in 1 .. 100 loop
         begin
            From.Connect (Tested.Port);
            From.Ask ("/fixed");
            declare
               Response : constant String := From.Response;
            begin
               if Response /= "" then
                  Has_Status (Response, "200");
                  Assert (Content (Response), Short, "answered");
                  return;
               end if;
            end;
         exception
            when GNAT.Sockets.Socket_Error => null;
         end;
      end loop;
      Assert (False, "no response before the end of the idle time");
   end Connect_And_Ask;

   --  Sends a byte at a time. Returns True if the server closes the connection within a minute.

   function Is_Ended (From : in out Client; Bytes : String := "X") return Boolean is
   begin
      for K in 1 .. 1_200 loop
         From.Send ([Bytes (Bytes'First + K mod Bytes'Length)]);
         delay 0.05;
      end loop;
      return False;
   exception
      when GNAT.Sockets.Socket_Error =>
         return True;
   end Is_Ended;

   --  Waits until the server has closed its files and sockets

   procedure Expect_Files (Before : Natural) is
   begin
      for Wait in 1 .. 60_000 loop
         exit when Open_Files <= Before;
         delay 0.001;
      end loop;
      Assert (Open_Files <= Before, "files that are open:" & Open_Files'Image & Before'Image);
   end Expect_Files;

   -------------------------
   -- Misbehaving clients --
   -------------------------

   procedure Keeps_Connection (T : in out Fixture) is
      From : Client;

      pragma Unreferenced (T);
   begin
      From.Connect (Tested.Port);
      for K in 1 .. 100 loop
         Check_Response (From, "/written?size=" & Trim (K'Image, Ada.Strings.Left),
                      Content => Test_Service.Pattern (0, K));
      end loop;
      Check_Response (From, "/nothing", "404");
      Check_Response (From, "/long", Content => Test_Service.Pattern (0, 2 ** 18));
      From.Ask ("/fields");
      declare
         Response : constant String := From.Response;
      begin
         Has_Status (Response, "204");
         Assert (Field (Response, "X-One"), "1", "a field");
         Assert (Field (Response, "X-Two"), "", "an empty field");
         Assert (Field (Response, "Content-Length"), "-", "204 has no length");
      end;
   end Keeps_Connection;

   procedure Pipelined (T : in out Fixture) is
      From     : Client;
      Requests : Unbounded_String;

      pragma Unreferenced (T);
   begin
      From.Connect (Tested.Port);
      for K in 1 .. 500 loop
         Append (Requests, "GET /written?size=" & Trim (K'Image, Ada.Strings.Left) & " HTTP/1.1"
                 & End_Line & "Host: h" & End_Line & End_Line);
      end loop;
      From.Send (To_String (Requests));
      for K in 1 .. 500 loop
         Assert (Content (From.Response), Test_Service.Pattern (0, K), "in order");
      end loop;
      From.Send
        (Request_Text ("GET /fixed")
         & Request_Text ("POST /echo", "Connection: close" & End_Line, "x")
         & Request_Text ("GET /fixed"));
      Assert (Content (From.Response), Short, "the first one");
      declare
         Last : constant String := From.Rest;
      begin
         Has_Status (Last, "200");
         Assert (Field (Last, "Connection"), "close", "told");
         Assert (Content (Last), "x", "nothing behind it");
      end;
   end Pipelined;

   procedure In_Pieces (T : in out Fixture) is
      From : Client;

      procedure Dribble (Bytes : String; Piece : Positive) is
         Next : Positive := Bytes'First;
      begin
         while Next <= Bytes'Last loop
            From.Send (Bytes (Next .. Natural'Min (Bytes'Last, Next + Piece - 1)));
            Next := Next + Piece;
            delay 0.000_1;
         end loop;
      end Dribble;

      Long    : constant String := Test_Service.Pattern (5, 60_000);
      Chunked : constant String :=
        "POST /echo HTTP/1.1" & End_Line & "Host: h" & End_Line & "Transfer-Encoding: chunked"
        & End_Line & End_Line & "3" & End_Line & "abc" & End_Line & "A" & End_Line & "0123456789"
        & End_Line & "0" & End_Line & End_Line;

      pragma Unreferenced (T);
   begin
      From.Connect (Tested.Port);
      Dribble (Request_Text ("POST /echo", Content => "hello"), 1);
      Assert (Content (From.Response), "hello", "a byte at a time");
      Dribble (Chunked & Chunked, 1);
      Assert (Content (From.Response), "abc0123456789", "chunks, a byte at a time");
      Assert (Content (From.Response), "abc0123456789", "and again");
      Dribble (Request_Text ("POST /echo", Content => Long), 4_001);
      Assert (Content (From.Response), Long, "a long one in pieces");
   end In_Pieces;

   procedure Heads (T : in out Fixture) is
      From : Client;

      procedure Has_Length (Path, Length : String) is
      begin
         From.Ask (Path, "HEAD");
         Assert (Field (From.Response (Has_Content => False), "Content-Length"), Length, Path);
      end Has_Length;

      pragma Unreferenced (T);
   begin
      From.Connect (Tested.Port);
      Has_Length ("/fixed", "15");
      Has_Length ("/long", "262144");
      Has_Length ("/written?size=7", "7");
      Has_Length ("/file?first=3&length=70000", "70000");
      Has_Length ("/nothing", "0");
      Check_Response (From, "/fixed", Content => Short);
      From.Ask ("*", "OPTIONS");
      Has_Status (From.Response, "204");
      Check_Response (From, "/fixed", Content => Short);
   end Heads;

   procedure Old_Clients (T : in out Fixture) is
      From : Client;

      pragma Unreferenced (T);
   begin
      From.Connect (Tested.Port);
      From.Send ("GET /fixed HTTP/1.0" & End_Line & "Connection: keep-alive" & End_Line & End_Line);
      Assert (Field (From.Response, "Connection"), "keep-alive", "told");
      From.Send ("GET /fixed HTTP/1.0" & End_Line & End_Line);
      declare
         Last : constant String := From.Rest;
      begin
         Assert (Field (Last, "Connection"), "close", "told");
         Assert (Content (Last), Short, "and closed");
      end;
   end Old_Clients;

   procedure Told_To_Continue (T : in out Fixture) is
      From : Client;

      Head : constant String :=
        "POST /echo HTTP/1.1" & End_Line & "Host: h" & End_Line & "Expect: 100-continue" & End_Line;

      pragma Unreferenced (T);
   begin
      From.Connect (Tested.Port);
      From.Send (Head & "Content-Length: 3" & End_Line & End_Line);
      Assert (From.Response, "HTTP/1.1 100 Continue" & End_Line & End_Line, "go on");
      From.Send ("a");
      delay 0.01;
      From.Send ("bc");
      Assert (Content (From.Response), "abc", "answered");
      From.Send (Head & "Transfer-Encoding: chunked" & End_Line & End_Line);
      Assert (From.Response, "HTTP/1.1 100 Continue" & End_Line & End_Line, "go on");
      From.Send ("1" & End_Line & "x" & End_Line & "0" & End_Line & End_Line);
      Assert (Content (From.Response), "x", "answered");
      From.Send (Head & "Content-Length: 3" & End_Line & End_Line & "abc");
      Assert (Content (From.Response), "abc", "not told, as it went on by itself");
      From.Send (Head & "Content-Length: 100000000" & End_Line & End_Line);
      Has_Status (From.Rest, "413");
   end Told_To_Continue;

   --  The client can read the response although it sends many bytes after a rejected request (RFC
   --  9112, 9.6)

   procedure Refused (T : in out Fixture) is

      procedure Is_Refused (Bytes, Status : String) is
         From : Client;
      begin
         From.Connect (Tested.Port);
         From.Send (Bytes & Test_Service.Pattern (0, 100_000));
         declare
            Response : constant String := From.Rest;
         begin
            Has_Status (Response, Status);
            Assert (Field (Response, "Connection"), "close", "told");
            Assert (Content (Response), "", "nothing behind it");
         end;
      end Is_Refused;

      pragma Unreferenced (T);
   begin
      Is_Refused ("GET /fixed" & End_Line, "400");
      Is_Refused ("GET / HTTP/1.1" & End_Line & End_Line, "400");
      Is_Refused ("BREW /fixed HTTP/1.1" & End_Line, "501");
      Is_Refused ("GET /fixed HTTP/3.0" & End_Line, "505");
      Is_Refused (Request_Text ("POST /echo", "Content-Length: 70000" & End_Line), "413");
      Is_Refused ("GET /" & 20_000 * 'a', "414");
      Is_Refused ("GET / HTTP/1.1" & End_Line & "A: " & 20_000 * 'a', "431");
      Serves_On;
   end Refused;

   procedure Mistakes (T : in out Fixture) is
      From : Client;

      pragma Unreferenced (T);
   begin
      From.Connect (Tested.Port);
      Check_Response (From, "/raise", "500");
      Check_Response (From, "/full", "500");
      Check_Response (From, "/missing", "500");
      Check_Response (From, "/written?size=x", "500");
      Check_Response (From, "/file?first=0&length=1&raise", "500");
      Check_Response (From, "/fixed", Content => Short);
   end Mistakes;

   --  The values of a field with many lines are joined: a handler's stack has room for them,
   --  however they are split

   procedure Many_Lines (T : in out Fixture) is

      procedure Check_Response
        (Path, Name : String; First, Count, Size : Natural; Expected : String)
      is
         From : Client;
      begin
         From.Connect (Tested.Port);
         From.Send
           (Request_Text
              ("GET " & Path,
               Name & ": " & First * 'b' & End_Line
               & Count * (Name & ": " & Size * 'a' & End_Line)));
         Assert (Status (From.Response), Expected, Path & Count'Image & Size'Image);
      end Check_Response;

      pragma Unreferenced (T);
   begin
      for Size in 70 .. 98 loop
         Check_Response ("/document", "Accept", 0, 97, Size + 42, "406");
         Check_Response ("/document", "Accept", 0, Size, 130, "406");
         Check_Response ("/folder/served.bin", "If-Match", 700, 60, Size + 142, "412");
         Check_Response ("/folder/served.bin", "If-None-Match", Size * 10, 97, 60, "200");
         Check_Response ("/folder/served.bin", "Range", Size, 97, 120, "200");
      end loop;
      Serves_On;
   end Many_Lines;

   --  The stack of the main thread, and of tasks without a stack size, has less than 80 MB

   procedure Too_Deep (T : in out Fixture) is
      From : Client;

      pragma Unreferenced (T);
   begin
      From.Connect (Tested.Port);
      Check_Response (From, "/deep?levels=10", Content => "10");
      for Levels in 20 .. 60 loop
         From.Ask ("/deep?levels=" & Trim (Levels'Image, Ada.Strings.Left));
         Assert (Status (From.Response) in "200" | "500", "not too deep for all");
      end loop;
      for K in 1 .. 3 loop
         Check_Response (From, "/deep?levels=8000", "500");
      end loop;
      Check_Response (From, "/deep?levels=10", Content => "10");
      Serves_On;
   end Too_Deep;

   --  The end of a worker's stack is guarded, even against code that does not probe the stack

   procedure Too_Wide_Without_Probes (T : in out Fixture) is
      pragma Unreferenced (T);
   begin
      for K in 1 .. 2 * Tested_Servers.Workers loop
         declare
            From : Client;
         begin
            From.Connect (Tested.Port);
            From.Ask ("/unprobed");
            Assert (Status (From.Response), (if Tested.Spare > 0 then "500" else "200"), "a frame");
         end;
      end loop;
      Serves_On;
   end Too_Wide_Without_Probes;

   -----------
   -- Files --
   -----------

   procedure Files (T : in out Fixture) is
      From : Client;

      procedure Is_Sent (First, Length : Natural) is
      begin
         Check_Response
           (From,
            "/file?first=" & Trim (First'Image, Ada.Strings.Left)
            & "&length=" & Trim (Length'Image, Ada.Strings.Left),
            Content => Test_Service.Pattern (First, Length));
      end Is_Sent;

      pragma Unreferenced (T);
   begin
      From.Connect (Tested.Port);
      Is_Sent (0, 65_536);
      Is_Sent (1, 1);
      Is_Sent (7, 0);
      Is_Sent (100, 3_000_000);
      Is_Sent (File_Size - 10, 10);
      --  A file shorter than announced ends the connection
      From.Ask ("/file?first=" & Integer'Image (-(10 - File_Size)) (2 .. 8) & "&length=20");
      Assert (Content (From.Rest)'Length = 10, "as far as it goes");
      Serves_On;
   end Files;

   procedure Nothing_Left_Open (T : in out Fixture) is
      Before : constant Natural := Open_Files;

      pragma Unreferenced (T);
   begin
      for K in 1 .. 20 loop
         declare
            From : Client;
         begin
            From.Connect (Tested.Port);
            From.Ask ("/file?first=0&length=70000", (if K mod 2 = 0 then "HEAD" else "GET"));
            From.Ask ("/file?first=0&length=1&raise");
            From.Ask ("/file?first=0&length=8000000");
            if K > 5 then
               From.Send ("GET / HT");
               Has_Status (From.Response (Has_Content => K mod 2 = 1), "200");
            end if;
         end;
      end loop;
      Serves_On;
      Expect_Files (Before);
   end Nothing_Left_Open;

   --  The waiting memory is full while a response waits for its client. To store further requests
   --  of this client, the server evicts connections that have used more memory for a longer time.

   procedure Room_Behind_A_Response (T : in out Fixture) is
      Before : constant Natural := Open_Files;

      pragma Unreferenced (T);
   begin
      declare
         Holders : array (1 .. 180) of Client;
         Readers : array (1 .. 20) of Client;
         Count   : Natural := 0;
      begin
         for Each of Holders loop
            Each.Connect (Tested.Port);
            Each.Send
              (Request_Text ("POST /echo", "Content-Length: 6000" & End_Line)
               & (if Count < 80 then 5_000 else 400) * 'x');
            Count := Count + 1;
            if Count = 1 then
               --  The first one waits longer than all others, and is the first to be evicted
               Await_Read (Tested.Port);
               delay 0.1;
            end if;
         end loop;
         Await_Read (Tested.Port);
         delay 0.1;
         for Each of Readers loop
            Each.Connect (Tested.Port, Receive_Buffer => 4_096);
            Each.Send (Request_Text ("GET /file?first=0&length=8000000") & 600 * 'x');
         end loop;
         delay 0.1;
         for Each of Readers loop
            Assert (Content (Each.Response) = Test_Service.Pattern (0, 8_000_000), "the file");
            Each.Send (End_Line);
            Has_Status (Each.Rest, "400");
         end loop;
         Has_Status (Holders (1).Rest, "503");
      end;
      Serves_On;
      Expect_Files (Before);
   end Room_Behind_A_Response;

   --  Nothing stays open, regardless of where in the library a handler's stack overflows

   procedure Nothing_Left_Open_Without_Stack (T : in out Fixture) is
      Before  : constant Natural := Open_Files;
      Failed  : Natural := 0;

      pragma Unreferenced (T);
   begin
      for Levels in 30 .. 130 loop
         declare
            From : Client;
         begin
            From.Connect (Tested.Port);
            From.Send
              (Request_Text
                 ("GET /folder/served.bin?levels=" & Integer'Image (Levels * (-4)) (2 .. 4),
                  60 * ("If-Match: " & 200 * 'a' & End_Line)));
            Failed := Failed + Boolean'Pos (Status (From.Response) = "500");
         end;
      end loop;
      Serves_On;
      Assert (Tested.Spare = 0 or else Failed in 1 .. 100, "without stack:" & Failed'Image);
      Expect_Files (Before);
   end Nothing_Left_Open_Without_Stack;

   -------------
   -- Timeout --
   -------------

   procedure Timeouts (T : in out Fixture) is
      Idle, Begun, Stuck : Client;

      pragma Unreferenced (T);
   begin
      Restart ((Patient with delta Idle => Short_Time));
      Connect_And_Ask (Idle);
      Assert (Idle.Rest, "", "closed without a word");
      Restart ((Patient with delta Header => Short_Time));
      Begun.Connect (Tested.Port);
      Begun.Send ("GET /fixed HTTP/1.1" & End_Line);
      Has_Status (Begun.Rest, "408");
      Serves_On;
      Restart ((Patient with delta Content => Short_Time));
      Stuck.Connect (Tested.Port);
      Stuck.Send (Request_Text ("POST /echo", "Content-Length: 3" & End_Line) & "ab");
      Has_Status (Stuck.Rest, "408");
      Serves_On;
   end Timeouts;

   --  A client that keeps sending bytes of a header does not get more time

   procedure Slow_Header (T : in out Fixture) is
      From : Client;

      pragma Unreferenced (T);
   begin
      Restart ((Patient with delta Header => Short_Time));
      From.Connect (Tested.Port);
      From.Send ("GET / HTTP/1.1" & End_Line);
      Assert (Is_Ended (From), "a header that does not end");
      Serves_On;
   end Slow_Header;

   procedure Slow_Readers (T : in out Fixture) is
      File, Text, Late_Reader : Client;

      pragma Unreferenced (T);
   begin
      --  The server waits for slow clients, and serves others in the meantime
      File.Connect (Tested.Port, Receive_Buffer => 4_096);
      Text.Connect (Tested.Port, Receive_Buffer => 4_096);
      File.Ask ("/file?first=0&length=8000000");
      for K in 1 .. 3 loop
         Text.Ask ("/long");
         Text.Ask ("/written?size=60000");
      end loop;
      delay 0.1;
      Serves_On;
      Assert (Content (File.Response), Test_Service.Pattern (0, 8_000_000), "a file");
      for K in 1 .. 3 loop
         Assert (Content (Text.Response), Test_Service.Pattern (0, 2 ** 18), "constant text");
         Assert (Content (Text.Response), Test_Service.Pattern (0, 60_000), "written text");
      end loop;
      --  The wait does not last forever
      Restart ((Patient with delta Sending => Short_Time));
      Late_Reader.Connect (Tested.Port, Receive_Buffer => 4_096);
      Late_Reader.Ask ("/file?first=0&length=8000000");
      Assert (Is_Ended (Late_Reader), "not cut off");
      Serves_On;
   end Slow_Readers;

   --  A client that reads steadily is not disconnected, although the system's send buffer is always
   --  full. The server looks once per second at what its clients have read, and its time can jump
   --  by two seconds on a busy machine. So it can only disconnect a client that did not read for a
   --  second or longer, because it did not run.

   procedure Steady_Reader (T : in out Fixture) is
      Limit  : constant Duration := 3.0;
      Paused : constant Time_Span := Milliseconds (500);
      From   : Client;
      Read   : Natural := 0;
      Begun  : Time;
      Last   : Time;
      Pause  : Time_Span := Time_Span_Zero;

      pragma Unreferenced (T);
   begin
      Restart ((Patient with delta Sending => Limit));
      From.Connect (Tested.Port, Receive_Buffer => 4_096);
      Begun := Clock;
      Last  := Begun;
      From.Ask ("/file?first=0&length=8000000");
      while To_Duration (Clock - Begun) < 2 * Limit loop
         Read  := Read + From.Received;
         Pause := (if Clock - Last > Pause then Clock - Last else Pause);
         Last  := Clock;
         delay 0.05;
      end loop;
      Assert (Read < 4_000_000, "read slowly:" & Read'Image);
      Assert (Content (From.Response), Test_Service.Pattern (0, 8_000_000), "all of it");
   exception
      when GNAT.Sockets.Socket_Error =>
         Pause := (if Clock - Last > Pause then Clock - Last else Pause);
         Assert
           (Pause > Paused,
            "disconnected, but reads at least every" & To_Duration (Pause)'Image & " s");
   end Steady_Reader;

   --  Empty lines are not a request, and do not keep a connection open

   procedure Empty_Lines (T : in out Fixture) is

      procedure Is_Closed (Piece : String) is
         From : Client;
      begin
         Connect_And_Ask (From);
         Assert (Is_Ended (From, Piece), "a connection without a request");
      end Is_Closed;

      Another : Client;

      pragma Unreferenced (T);
   begin
      --  A carriage return may be the beginning of a header
      Restart ((Patient with delta Idle => Short_Time, Header => Short_Time));
      Is_Closed (ASCII.LF & ASCII.CR);
      Connect_And_Ask (Another);
   end Empty_Lines;

   ----------
   -- Many --
   ----------

   procedure Many (T : in out Fixture) is
      From : array (1 .. 300) of Client;

      pragma Unreferenced (T);
   begin
      for Each of From loop
         Each.Connect (Tested.Port);
      end loop;
      for Round in 1 .. 3 loop
         for Each of From loop
            Each.Ask ("/written?size=100");
         end loop;
         for Each of From loop
            Assert (Content (Each.Response), Test_Service.Pattern (0, 100), "answered");
         end loop;
      end loop;
   end Many;

   --  The waiting memory is enough for only a quarter of the clients

   procedure Too_Many_Wait (T : in out Fixture) is
      From    : array (1 .. 200) of Client;
      Part    : constant String :=
        Request_Text ("POST /echo", "Content-Length: 6000" & End_Line) & 5_000 * 'x';
      Refused : Natural := 0;

      pragma Unreferenced (T);
   begin
      for Each of From loop
         Each.Connect (Tested.Port);
         Each.Send (Part);
      end loop;
      Await_Read (Tested.Port);
      Serves_On;
      for Each of From loop
         begin
            Each.Send (1_000 * 'x');
            declare
               Response : constant String := Each.Response;
            begin
               if Status (Response) = "503" then
                  Refused := Refused + 1;
               else
                  Assert (Content (Response), 6_000 * 'x', "answered");
               end if;
            end;
         end;
      end loop;
      Assert (Refused in 100 .. 180, "refused:" & Refused'Image);
      for Each of From (1 .. 20) loop
         Each.Connect (Tested.Port);
         Each.Send (Part);
      end loop;
      delay 0.05;
      for Each of From (1 .. 20) loop
         Each.Send (1_000 * 'x');
         Assert (Content (Each.Response), 6_000 * 'x', "there is memory again");
      end loop;
   end Too_Many_Wait;

   -----------
   -- Tasks --
   -----------

   procedure Await_Waiting (Count : Natural) is
   begin
      for K in 1 .. 60_000 loop
         exit when Test_Service.Gate.Waiting = Count;
         delay 0.001;
      end loop;
      Assert (Test_Service.Gate.Waiting = Count, "handlers wait");
   end Await_Waiting;

   --  Blocking handlers do not delay others as long as one task does not block

   procedure Slow_Handlers (T : in out Fixture) is
      From : array (1 .. Tested_Servers.Workers + 2) of Client;

      pragma Unreferenced (T);
   begin
      for Round in 1 .. (if Tested.Spare > 0 then 3 else 0) loop
         Test_Service.Gate.Shut;
         for Each of From loop
            Each.Connect (Tested.Port);
         end loop;
         for K in 1 .. Tested.Spare loop
            From (K).Ask ("/wait");
            --  Requests that follow a request on the same connection must wait for it
            From (K).Ask ("/fixed");
            Await_Waiting (K);
            for Each of From (Tested.Spare + 1 .. From'Last) loop
               Check_Response (Each, "/fixed", Content => Short);
            end loop;
         end loop;
         --  Now the last task is also busy, and further requests must wait
         for Each of From (Tested.Spare + 1 .. From'Last) loop
            Each.Ask ("/wait");
         end loop;
         Await_Waiting (Tested_Servers.Workers);
         delay 0.05;
         Test_Service.Gate.Open;
         for Each of From loop
            Assert (Content (Each.Response), Short, "answered");
         end loop;
         for Each of From (1 .. Tested.Spare) loop
            Assert (Content (Each.Response), Short, "and what followed");
         end loop;
      end loop;
   end Slow_Handlers;

   --  Handlers begin to block while other tasks take over the loop that the first one left

   procedure Slow_At_Once (T : in out Fixture) is
      From : array (1 .. Tested_Servers.Workers + 2) of Client;

      pragma Unreferenced (T);
   begin
      for Round in 1 .. (if Tested.Spare > 0 then 20 else 0) loop
         Test_Service.Gate.Shut;
         for Each of From loop
            Each.Connect (Tested.Port);
            Check_Response (Each, "/fixed", Content => Short);
         end loop;
         From (1).Ask ("/wait");
         Await_Waiting (1);
         for Each of From (2 .. Tested.Spare) loop
            Each.Ask ("/wait");
         end loop;
         Await_Waiting (Tested.Spare);
         for Each of From (Tested.Spare + 1 .. From'Last) loop
            Check_Response (Each, "/fixed", Content => Short);
         end loop;
         Test_Service.Gate.Open;
         for Each of From (1 .. Tested.Spare) loop
            Assert (Content (Each.Response), Short, "answered");
         end loop;
      end loop;
   end Slow_At_Once;

   --------------
   -- Stopping --
   --------------

   --  Stops the server while the handler of a client's request blocks. A stop waits at most 4
   --  seconds for clients.

   procedure Stopping (T : in out Fixture) is
      Max_Stop             : constant Time_Span := Seconds (4);
      Begun_At             : Time;
      Port                 : constant Natural := Tested.Port;
      Idle, Waiting, Begun : Client;

      task Stopper is
         entry Stop;
         entry Has_Stopped;
      end Stopper;

      task body Stopper is
      begin
         select
            accept Stop;
         or
            terminate;
         end select;
         Tested.Stop;
         select
            accept Has_Stopped;
         or
            terminate;
         end select;
      end Stopper;

      pragma Unreferenced (T);
   begin
      Test_Service.Gate.Shut;
      Idle.Connect (Port);
      Check_Response (Idle, "/fixed", Content => Short);
      Begun.Connect (Port);
      Begun.Send ("GET /fixed HTTP/1.1" & End_Line);
      delay 0.05;
      Waiting.Connect (Port);
      Waiting.Ask ("/wait");
      Await_Waiting (1);
      Begun_At := Clock;
      Stopper.Stop;
      if Tested.Spare = 0 then
         delay 0.2;
         Begun.Send ("Host: h" & End_Line & End_Line);
         Begun_At := Clock;
         Test_Service.Gate.Open;
      else
         Assert (Idle.Rest, "", "a client without a request gets no response");
         Begun.Send ("Host: h" & End_Line & End_Line);
      end if;
      declare
         Response : constant String := Begun.Rest;
      begin
         if Clock - Begun_At < Max_Stop then
            Assert (Content (Response), Short, "what was under way is answered");
            Assert (Field (Response, "Connection"), "close", "told");
         end if;
      exception
         when GNAT.Sockets.Socket_Error =>
            Assert (Clock - Begun_At >= Max_Stop, "reset before the end of the time for clients");
      end;
      if Tested.Spare = 0 then
         Assert (Idle.Rest, "", "a client without a request gets no response");
      end if;
      Test_Service.Gate.Open;
      declare
         Response : constant String := Waiting.Rest;
      begin
         Assert (Content (Response), Short, "a handler is waited for");
      end;
      Stopper.Has_Stopped;
      Assert (not Can_Connect (Port), "the port is free");
      Tested.Start (Patient);
      Serves_On;
   exception
      when others =>
         --  Otherwise the stopper would wait for the handler, and this procedure for the stopper
         Test_Service.Gate.Open;
         raise;
   end Stopping;

   --  There are more requests than can be processed in the time limit of a stop

   procedure Bounded_Stop (T : in out Fixture) is
      From     : array (1 .. 40) of Client;
      Requests : constant := 40 * 20;
      --  20 s of work for the tasks, each of which processes ten requests per second
      Answered : Natural := 1;

      pragma Unreferenced (T);
   begin
      for Each of From loop
         Each.Connect (Tested.Port);
         for K in 1 .. Requests / From'Length loop
            Each.Ask ("/slow");
         end loop;
      end loop;
      Assert (Content (From (1).Response), Short, "the first request");
      Tested.Stop;
      for Each of From loop
         begin
            while Each.Response /= "" loop
               Answered := Answered + 1;
            end loop;
         exception
            when GNAT.Sockets.Socket_Error => null;
         end;
      end loop;
      Tested.Start (Patient);
      Assert (Answered in 1 .. Requests - 1, "answered:" & Answered'Image);
      Serves_On;
   end Bounded_Stop;

   package Caller is new AUnit.Test_Caller (Fixture);

   function Suite (Folder : String) return AUnit.Test_Suites.Access_Test_Suite is
      Result : constant AUnit.Test_Suites.Access_Test_Suite := AUnit.Test_Suites.New_Suite;

      procedure Add (Name : String; Test : Caller.Test_Method) is
      begin
         Result.Add_Test (Caller.Create (Tested.Name & ": " & Name, Test));
      end Add;
   begin
      Test_Service.Make_File (Folder & "/served.bin", File_Size);
      Add ("persistent connections", Keeps_Connection'Access);
      Add ("pipelined requests", Pipelined'Access);
      Add ("requests in pieces", In_Pieces'Access);
      Add ("HEAD and OPTIONS", Heads'Access);
      Add ("HTTP/1.0 clients", Old_Clients'Access);
      Add ("100 continue", Told_To_Continue'Access);
      Add ("rejected requests", Refused'Access);
      Add ("mistakes of handlers", Mistakes'Access);
      Add ("fields of many lines", Many_Lines'Access);
      Add ("stack overflows in handlers", Too_Deep'Access);
      Add ("a wide frame without -fstack-check", Too_Wide_Without_Probes'Access);
      Add ("parts of files", Files'Access);
      Add ("files and sockets are closed", Nothing_Left_Open'Access);
      Add ("files are closed after a stack overflow", Nothing_Left_Open_Without_Stack'Access);
      Add ("timeouts", Timeouts'Access);
      Add ("a header that does not end", Slow_Header'Access);
      Add ("slow readers", Slow_Readers'Access);
      Add ("a slow reader that is not disconnected", Steady_Reader'Access);
      Add ("empty lines", Empty_Lines'Access);
      Add ("many connections", Many'Access);
      Add ("more connections than memory", Too_Many_Wait'Access);
      Add ("no memory after a response", Room_Behind_A_Response'Access);
      Add ("blocking handlers", Slow_Handlers'Access);
      Add ("handlers that begin to block concurrently", Slow_At_Once'Access);
      Add ("a graceful stop", Stopping'Access);
      Add ("a stop with many requests", Bounded_Stop'Access);
      return Result;
   end Suite;

end Serving_Tests;
