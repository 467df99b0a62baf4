--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

with Ada.Command_Line;
with Ada.Execution_Time;
with Ada.Real_Time;
with Ada.Strings.Fixed;
with Ada.Text_IO;
with Appserver.Folded_Names;
with Appserver.Histograms;
with Appserver.HTTP.Trials;
with Appserver.IP_Addresses;
with Appserver.Monitors.JSON;
with Appserver.Monitors.Prometheus;
with Appserver.SQL;
with Appserver.Text_Sinks;
with AUnit.Assertions;
with AUnit.Test_Caller;
with AUnit.Test_Fixtures;
with Counted_Memory;
with Interfaces;
with Parallel;
with Shop_Parts;
with Stress_Time;

package body Monitor_Tests is

   use Appserver;
   use AUnit.Assertions;
   use Interfaces;
   use type Histograms.Histogram;

   type Fixture is new AUnit.Test_Fixtures.Test_Fixture with null record;

   -----------
   -- Names --
   -----------

   procedure Routes (T : in out Fixture) is
      pragma Unreferenced (T);

      procedure Check (Path, Route : String) is
         Name : Folded_Names.Page_Name;
      begin
         Folded_Names.Set_Route (Name, "GET", Path);
         Assert
           (Folded_Names.Text (Name) = "GET " & Route, Path & ": " & Folded_Names.Text (Name));
         Assert
           (Folded_Names.Hash (Name) = Folded_Names.Hash ("GET " & Route),
"the hash of the name of " & Route);
      end Check;

   begin
      Check ("/", "/");
      Check ("/users/123", "/users/{id}");
      Check ("/users/123/orders/7-8", "/users/{id}/orders/{id}");
      Check ("/api/v2/page1", "/api/v2/page1");
      Check ("/f81d4fae-7dec-11d0-a765-00a0c91e6bf6/x", "/{id}/x");
      Check ("/decade/deadbeef", "/decade/deadbeef");
      Check ("/a/deadbee5", "/a/{id}");
      Check ("/2026-05-01", "/{id}");
      Check ("//x//", "//x//");
      Check ("/token/Zm9vYmFyMTIzNDU2Nzg5", "/token/{id}");
      Check ("/" & [1 .. 200 => 'x'], "/" & [1 .. 123 => 'x']);
   end Routes;

   procedure Queries (T : in out Fixture) is
      pragma Unreferenced (T);

      procedure Check (Text, Name : String) is
      begin
         Assert (Folded_Names.Query (Text) = Name, Text & ": " & Folded_Names.Query (Text));
      end Check;

   begin
      Check ("SELECT a1 FROM t2 WHERE id = 7", "SELECT a1 FROM t2 WHERE id = ?");
      Check ("SELECT 'it''s', ""a'b"", 1.5e3", "SELECT ?, ""a'b"", ?");
      Check ("WHERE id IN (1,2,  3)", "WHERE id IN (?, ...)");
      Check ("WHERE id IN (?, ?)", "WHERE id IN (?, ...)");
      Check ("WHERE id = $1 AND n = :name AND x::text = 'y'",
             "WHERE id = ? AND n = ? AND x::text = ?");
      Check ("  SELECT" & ASCII.LF & " 1 -- one" & ASCII.LF & "/* two */ ;", "SELECT ?");
      Check ("SELECT 'open", "SELECT ?");
      Check ("SELECT /* open", "SELECT");
      Check ("", "");
      Check ("SELECT E'a\'b', e'it''s\\', 'c\', x", "SELECT ?, ..., x");
      Check ("SELECT E'a' " & ASCII.LF & " 'b\'c' || d", "SELECT ? || d");
      Check ("SELECT $$it's$$, $tag$ $$ 'b' $tag$ || c", "SELECT ?, ... || c");
      Check ("SELECT $$open", "SELECT ?");
      Check ("SELECT a$b$c FROM t$1 # 'x'", "SELECT a$b$c FROM t$1 # ?");
      Check ("SELECT ""a\"", 'b'", "SELECT ""a\"", ?");
      Assert (Folded_Names.Query ([1 .. 5_000 => 'x'])'Length = 500, "the name is truncated");
   end Queries;

   --  Backslashes, double quotes and comments of MariaDB

   procedure Queries_By_Rules (T : in out Fixture) is
      pragma Unreferenced (T);

      All_Rules : constant Folded_Names.Text_Rules := (others => True);

      procedure Check (Text, Name : String) is
         Found : constant String := Folded_Names.Query (Text, All_Rules);
      begin
         Assert (Found = Name, Text & ": " & Found);
      end Check;
   begin
      Check ("WHERE name = 'it\'s secret' AND x", "WHERE name = ? AND x");
      Check ("WHERE token = ""ab\""c"" AND `d\`", "WHERE token = ? AND `d\`");
      Check
        ("SELECT a # don't" & ASCII.LF & "FROM t WHERE b = 'c'", "SELECT a FROM t WHERE b = ?");
      Check ("SELECT 'open\", "SELECT ?");
      Assert
        (Folded_Names.Query
           ("SELECT ""a\"", 'b\'c'", (Has_Backslash_Escapes => True, others => False))
         = "SELECT ""a\"", ?",
         "a backslash in a name");
   end Queries_By_Rules;

   ----------------
   -- Histograms --
   ----------------

   procedure Buckets (T : in out Fixture) is
      pragma Unreferenced (T);
      use Histograms;
      Below : Unsigned_64 := 0;
   begin
      for Item in Bucket loop
         Assert (Bucket_Of (Below) = Item, "the first value of" & Item'Image);
         Assert (Bucket_Of (Upper_Bound (Item)) = Item, "the last value of" & Item'Image);
         Assert
           (Item < 32 or else (Upper_Bound (Item) + 1 - Below) * 32 <= Below,
            "the width of a bucket");
         Below := Upper_Bound (Item) + 1;
      end loop;
      Assert
        (Bucket_Of (Unsigned_64'Last) = Bucket'Last, "the bucket of a value that is too large");
   end Buckets;

   --  A line of percentiles.txt contains a number of values, a shift, a percentage, and
   --  HdrHistogram's percentile of the values of the same generator

   procedure Percentiles (T : in out Fixture) is
      pragma Unreferenced (T);
      use Ada.Text_IO;

      package Numbers is new Ada.Text_IO.Integer_IO (Long_Long_Integer);
      package Reals is new Ada.Text_IO.Float_IO (Long_Float);

      procedure Fill
        (Into : in out Histograms.Histogram; Count : Long_Long_Integer; Shift : Natural)
      is
         State : Unsigned_64 := 1;
      begin
         for K in 1 .. Count loop
            State := State * 6_364_136_223_846_793_005 + 1_442_695_040_888_963_407;
            Histograms.Record_Value
              (Into, Shift_Right (State, Shift + Natural (Shift_Right (State, 8) mod 8)));
         end loop;
      end Fill;

      File                    : File_Type;
      Count, Shift, Reference : Long_Long_Integer;
      Percent                 : Long_Float;
      Compared                : Natural := 0;
   begin
      Open (File, In_File, Ada.Command_Line.Argument (1));
      while not End_Of_File (File) loop
         Numbers.Get (File, Count);
         Numbers.Get (File, Shift);
         Reals.Get (File, Percent);
         Numbers.Get (File, Reference);
         Skip_Line (File);
         declare
            Values   : Histograms.Histogram := [others => 0];
            Computed : Long_Long_Integer;
         begin
            Fill (Values, Count, Natural (Shift));
            Computed := Long_Long_Integer (Histograms.Percentile (Values, Percent));
            Assert
              (abs (Computed - Reference) <= Reference / 30 + 1,
               Percent'Image & " of" & Count'Image & ":" & Computed'Image & Reference'Image);
         end;
         Compared := Compared + 1;
      end loop;
      Close (File);
      Assert (Compared >= 20, "the number of compared lines");
   end Percentiles;

   procedure Merging (T : in out Fixture) is
      pragma Unreferenced (T);
      First, Second, All_Values : Histograms.Histogram := [others => 0];
   begin
      for K in Unsigned_64 range 1 .. 1_000 loop
         if K mod 3 = 0 then
            Histograms.Record_Value (First, K * K);
         else
            Histograms.Record_Value (Second, K * K);
         end if;
         Histograms.Record_Value (All_Values, K * K);
      end loop;
      Histograms.Add (First, Second);
      Assert (First = All_Values, "a merged histogram equals that of all values");
   end Merging;

   ------------
   -- Filter --
   ------------

   LF : constant String := [ASCII.CR, ASCII.LF];

   Home : constant IP_Addresses.Address := IP_Addresses.Value ("127.0.0.1");
   Away : constant IP_Addresses.Address := IP_Addresses.Value ("192.0.2.1");

   function Answer_To
     (Path   : String;
      Client : IP_Addresses.Address := Home;
      Fields : String := "";
      Method : String := "GET";
      Text   : String := "") return String is
     (HTTP.Trials.Responses
        (Shop_Parts.Counted'Access,
         Method & " " & Path & " HTTP/1.1" & LF & "Host: x" & LF & Fields
         & (if Text = "" then "" else "Content-Length:" & Text'Length'Image & LF) & LF & Text,
         Client));

   function Has (Text, Part : String) return Boolean is
     (Ada.Strings.Fixed.Index (Text, Part) > 0);

   procedure Ask (Path : String; Method : String := "GET"; Text : String := "") is
      Ignored : constant String := Answer_To (Path, Method => Method, Text => Text);
   begin
      null;
   end Ask;

   function Page (Name : String) return Monitors.Statistics is
     (Shop_Parts.Monitor.Page_Statistics (Name));

   procedure Filtered (T : in out Fixture) is
      pragma Unreferenced (T);
      Select_Union : constant String := "SELECT ?, ... UNION SELECT ?, ...";
   begin
      Ask ("/users/1");
      Ask ("/users/2?password=secret");
      Ask ("/missing/1");
      Ask ("/broken");
      Ask ("/broken");
      Ask ("/queries?count=3");
      Ask ("/queries?count=200");
      Ask ("/named/anything");
      Assert (Page ("GET /users/{id}").Count = 2, "a page with two requests");
      Assert (Page ("GET /users/{id}").Errors = 0, "no errors");
      Assert (Page ("GET /missing/{id}").Count = 0, "a 404 adds no page name");
      Assert (Page ("(other)").Count = 1, "a 404 is counted as (other)");
      Assert (Page ("(other)").Client_Errors = 1, "a 404 is counted as an error of the client");
      Assert (Page ("GET /broken").Errors = 2, "an exception is an error");
      Assert (Page ("GET /named/{name}").Count = 1, "a page with a name that the program set");
      Assert
        (Shop_Parts.Monitor.Query_Statistics ("GET /queries", Select_Union).Count = 203,
         "queries are counted even if they exceed a request's capacity");
      Ask ("/upload", Method => "PUT", Text => "seven b");
      Assert (Page ("PUT /upload").Count = 1, "a receiver");
      Assert
        (Shop_Parts.Monitor.Query_Statistics ("PUT /upload", Select_Union).Count = 1,
         "a query of the receiver is counted");
      Ask ("/refused", Method => "POST", Text => "x");
      Assert (Page ("(other)").Client_Errors = 2, "the rejected request is counted as (other)");
      Ask ("/one-too-many");
      Ask ("/two-too-many");
      Assert (Page ("GET /two-too-many").Count = 0, "there are at most six names");
      Assert (Page ("(other)").Count = 3, "requests of further pages are counted as (other)");
   end Filtered;

   function Metrics_For
     (Path   : String := "/monitor";
      Client : IP_Addresses.Address := Home;
      Host   : String := "127.0.0.1:9090";
      Fields : String := "";
      Method : String := "GET") return String is
     (HTTP.Trials.Responses
        (Shop_Parts.Statistics'Access,
         Method & " " & Path & " HTTP/1.1" & LF & "Host: " & Host & LF & Fields & LF,
         Client));

   procedure Shows_Metrics (T : in out Fixture) is
      pragma Unreferenced (T);
   begin
      Ask ("/users/7");
      Assert (Has (Metrics_For, "application/json"), "JSON");
      Assert (Has (Metrics_For ("/"), "application/json"), "the metrics at the root path");
      Assert (Has (Metrics_For ("/json"), "application/json"), "the metrics at the short path");
      Assert (Has (Metrics_For, """GET /users/{id}"""), "the metrics contain the page");
      Assert
        (not Has (Metrics_For, "secret"), "the metrics do not contain the path that was requested");
      Assert
        (Has (Metrics_For (Fields => "Accept: text/html, */*" & LF), "<!doctype html>"),
         "a browser");
      Assert
        (Has (Metrics_For (Fields => "Accept: text/plain;version=0.0.4" & LF),
              "appserver_monitor_page_seconds_count{page=""GET /users/{id}""}"),
         "Prometheus");
      Assert (Has (Metrics_For ("/monitor/metrics"), "# TYPE"), "the metrics at their full path");
      Assert
        (Has (Metrics_For ("/monitor/page"), "Content-Security-Policy"), "the page at its path");
      Assert (Has (Metrics_For (Method => "POST"), " 405 "), "other methods are rejected");
      Assert (Has (Metrics_For ("/monitors"), " 404 "), "another path is not found");
      Assert (Page ("GET /monitor").Count = 0, "requests for metrics are not counted");
   end Shows_Metrics;

   --  Access to the metrics on a separate port

   procedure Shows_Only_Here (T : in out Fixture) is
      pragma Unreferenced (T);

      procedure Is_Hidden (Fields : String) is
      begin
         Assert (Has (Metrics_For (Fields => Fields & LF), " 403 "), Fields);
      end Is_Hidden;

      procedure Is_Shown (Host : String; Is_So : Boolean) is
      begin
         Assert (Has (Metrics_For (Host => Host), "bucket_width") = Is_So, Host);
      end Is_Shown;
   begin
      Assert (Has (Metrics_For (Client => Away), " 403 "), "other machines get no metrics");
      Is_Hidden ("Forwarded: for=192.0.2.1");
      Is_Hidden ("X-Forwarded-For: 192.0.2.1");
      Is_Hidden ("X-Forwarded-Host: shop.example");
      Is_Hidden ("x-forwarded-proto: https");
      Is_Hidden ("X-Real-IP: 203.0.113.9");
      Is_Hidden ("Via: 1.1 proxy");
      Is_Hidden ("Sec-Fetch-Site: cross-site");
      Is_Hidden ("Sec-Fetch-Site: same-site");
      Is_Shown ("localhost", True);
      Is_Shown ("LOCALHOST:9090", True);
      Is_Shown ("127.0.0.1", True);
      Is_Shown ("127.9.8.7:80", True);
      Is_Shown ("[::1]:9090", True);
      Is_Shown ("[::1]", True);
      Is_Shown ("rebound.example", False);
      Is_Shown ("rebound.example:9090", False);
      Is_Shown ("localhost.rebound.example", False);
      Is_Shown ("127.0.0.1.rebound.example", False);
      Is_Shown ("192.0.2.1:9090", False);
      Is_Shown ("[2001:db8::1]", False);
      Is_Shown ("[]", False);
      Is_Shown (":9090", False);
      Is_Shown ("", False);
      Assert
        (Has (Metrics_For (Fields => "Sec-Fetch-Site: none" & LF), " 200 "),
"a user typed the address");
      Assert
        (Has (Metrics_For (Fields => "Sec-Fetch-Site: same-origin" & LF), " 200 "),
         "the page reloads itself");
   end Shows_Only_Here;

   --  Without a token, the application's port does not show the metrics: the client may be a proxy
   --  that does not identify itself

   procedure Shows_With_Token (T : in out Fixture) is
      pragma Unreferenced (T);

      function Guarded_Response (Fields : String) return String is
        (HTTP.Trials.Responses
           (Shop_Parts.Guarded'Access,
            "GET /monitor/json HTTP/1.1" & LF & "Host: shop.example" & LF & Fields & LF, Away));

      procedure Is_Refused (Fields : String) is
         Response : constant String := Guarded_Response (Fields & LF);
      begin
         Assert (Has (Response, " 401 "), Fields);
         Assert (Has (Response, "WWW-Authenticate: Basic"), "a browser prompts for the token");
         Assert (not Has (Response, "bucket_width"), "the metrics are not shown");
      end Is_Refused;

      Bearer : constant String := "Authorization: Bearer " & Shop_Parts.Secret;
      Basic  : constant String := "Authorization: basic bW9uaXRvcjowMTIzNDU2Nzg5YWJjZGVmKy8=";
   begin
      Assert (not Has (Answer_To ("/monitor"), "bucket_width"), "the application serves this path");
      Assert
        (not Has (Answer_To ("/monitor/json", Fields => Bearer & LF), "bucket_width"),
"no metrics without a configured token");
      Assert (Has (Guarded_Response (Bearer & LF), "application/json"), "Bearer");
      Assert (Has (Guarded_Response (Basic & LF), "application/json"), "Basic");
      Is_Refused ("X: y");
      Is_Refused ("Authorization: Bearer ");
      Is_Refused ("Authorization: Bearer");
      Is_Refused (Bearer & "x");
      Is_Refused (Bearer (Bearer'First .. Bearer'Last - 1));
      Is_Refused ("Authorization: Basic " & Shop_Parts.Secret);
      Is_Refused ("Authorization: Basic bW9uaXRvcjo=");
      Is_Refused (Bearer & LF & "Sec-Fetch-Site: cross-site");
      Assert
        (Has (HTTP.Trials.Responses
                (Shop_Parts.Short'Access,
                 "GET /monitor HTTP/1.1" & LF & "Host: x" & LF & LF, Home), " 500 "),
         "a token that is too short is an error");
   end Shows_With_Token;

   -------------
   -- Queries --
   -------------

   procedure Databases (T : in out Fixture) is
      pragma Unreferenced (T);
      use Shop_Parts.Databases;

      DB : aliased Connection;

      function Alone (Query : String) return Monitors.Statistics is
        (Shop_Parts.Monitor.Query_Statistics (Monitors.No_Request, Query));

      Before : constant Unsigned_64 := Page (Monitors.No_Request).Count;
   begin
      DB.Open (":memory:");
      DB.Execute ("CREATE TABLE item (id integer UNIQUE)");
      declare
         Work   : SQL.Transaction (DB'Access);
         Insert : SQL.Statement'Class := DB.Prepare ("INSERT INTO item VALUES (?)");
      begin
         Insert.Bind (1, SQL.Integer_64'(1));
         Insert.Execute;
         begin
            Insert.Execute;
            Assert (False, "the INSERT succeeded twice");
         exception
            when SQL.SQL_Error => null;
         end;
         Work.Commit;
      end;
      Assert (Alone ("CREATE TABLE item (id integer UNIQUE)").Count = 1, "a text");
      Assert (Alone ("INSERT INTO item VALUES (?)").Count = 2, "two executions");
      Assert (Alone ("INSERT INTO item VALUES (?)").Errors = 1, "one execution failed");
      Assert (Alone ("COMMIT").Count = 1, "a commit");
      Assert
        (Page (Monitors.No_Request).Count = Before + 4,
         "each query outside a request counts as a request");
   end Databases;

   ------------
   -- Counts --
   ------------

   --  Many tasks record requests while others read all metrics

   procedure Nothing_Is_Lost (T : in out Fixture) is
      pragma Unreferenced (T);

      Watched : aliased Monitors.Monitor
        (Max_Pages => 8, Max_Queries => 4, Hours => 2, Stripes => 2);
      Query   : constant Monitors.Query := Watched.Query_Of ("SELECT 1");
      Tasks   : constant := 5;
      Turns   : constant := 5_000;
      Rounds  : Unsigned_64 := 0;

      procedure Work (Number : Positive) is
         Text : Text_Sinks.Text_Buffer (100_000);
      begin
         if Number = Tasks then
            for Turn in 1 .. 5 loop
               Text.Clear;
               Monitors.Prometheus.Write (Watched, Text);
            end loop;
            return;
         end if;
         for Turn in 1 .. Turns loop
            declare
               Timed : aliased Monitors.Timed_Request (Watched'Access);
            begin
               Monitors.Start (Timed, "GET", "/page" & Character'Val (97 + Turn mod 12));
               for K in 1 .. Turn mod 4 loop
                  Watched.Record_Query (Query, Unsigned_64 (K), Is_Failed => K = 3);
               end loop;
               Monitors.Finish (Timed, (if Turn mod 10 = 0 then 500 else 200));
            end;
         end loop;
      end Work;

      procedure Round is
         Sum, Sum_Of_Queries : Monitors.Statistics;

         procedure Add (Page : String) is
         begin
            Monitors.Add (Sum, Watched.Page_Statistics (Page));
            Monitors.Add (Sum_Of_Queries, Watched.Query_Statistics (Page, "SELECT ?"));
            Monitors.Add (Sum_Of_Queries, Watched.Query_Statistics (Page, "(other)"));
         end Add;

      begin
         Parallel.Run (Tasks, Work'Access);
         Rounds := Rounds + 1;
         for C in Character range 'a' .. 'l' loop
            Add ("GET /page" & C);
         end loop;
         Add ("(other)");
         Assert (Sum.Count = Rounds * (Tasks - 1) * Turns, "requests:" & Sum.Count'Image);
         Assert (Sum.Errors = Rounds * (Tasks - 1) * Turns / 10, "errors:" & Sum.Errors'Image);
         Assert
           (Sum_Of_Queries.Count = Rounds * (Tasks - 1) * Turns / 4 * 6,
            "queries:" & Sum_Of_Queries.Count'Image);
         Assert
           (Sum_Of_Queries.Errors = Rounds * (Tasks - 1) * Turns / 4,
            "failed queries:" & Sum_Of_Queries.Errors'Image);
      end Round;

   begin
      Stress_Time.Repeat (Round'Access);
   end Nothing_Is_Lost;

   procedure Clients_Add_No_Pages (T : in out Fixture) is
      pragma Unreferenced (T);
      Watched : aliased Monitors.Monitor;

      procedure Serve (Method, Path : String; Status : Natural; Name : String := "") is
         Timed : aliased Monitors.Timed_Request (Watched'Access);
      begin
         Monitors.Start (Timed, Method, Path);
         if Name /= "" then
            Monitors.Set_Page (Name);
         end if;
         Monitors.Finish (Timed, Status, Path);
      end Serve;

   begin
      Serve ("M1", "/", 501);
      Serve ("M2", "/", 200);
      Serve ("OPTIONS", "/anything", 200);
      Serve ("GET", "/missing", 501);
      Serve ("GET", "/a", 200);
      Serve ("OPTIONS", "/b", 200, Name => "OPTIONS /{file}");
      Assert (Watched.Page_Statistics ("(other)").Count = 4, "no page is added");
      Assert (Watched.Page_Statistics ("GET /a").Count = 1, "a page is added");
      Assert (Watched.Page_Statistics ("OPTIONS /{file}").Count = 1, "a named page is added");
   end Clients_Add_No_Pages;

   procedure No_Memory (T : in out Fixture) is
      pragma Unreferenced (T);

      Watched : aliased Monitors.Monitor;
      Query   : constant Monitors.Query := Watched.Query_Of ("SELECT 1");
      Before  : Natural;

      procedure Serve is
         Timed : aliased Monitors.Timed_Request (Watched'Access);
      begin
         Monitors.Start (Timed, "GET", "/users/7");
         Watched.Record_Query (Query, 1_000);
         Monitors.Finish (Timed, 200, "/users/7");
      end Serve;

   begin
      Serve;
      Before := Counted_Memory.Calls;
      for K in 1 .. 10_000 loop
         Serve;
      end loop;
      Assert (Counted_Memory.Calls = Before, "no heap memory is allocated");
      Assert
        (Watched.Page_Statistics ("GET /users/{id}").Count = 10_001, "all requests are counted");
   end No_Memory;

   --  The CPU time is measured for the thread, so a request that only waits has little CPU time

   procedure CPU_Time (T : in out Fixture) is
      pragma Unreferenced (T);

      use Ada.Execution_Time;
      use Ada.Real_Time;

      Watched : aliased Monitors.Monitor;

      procedure Serve (Path : String; Works : Boolean) is
         Timed : aliased Monitors.Timed_Request (Watched'Access);
         Start : constant Ada.Execution_Time.CPU_Time := Clock;
      begin
         Monitors.Start (Timed, "GET", Path);
         if Works then
            while To_Duration (Clock - Start) < 0.02 loop
               null;
            end loop;
         else
            delay 0.02;
         end if;
         Monitors.Finish (Timed, 200, Path);
      end Serve;

   begin
      for K in 1 .. 3 loop
         Serve ("/works", True);
         Serve ("/waits", False);
      end loop;
      Assert (Watched.Page_Statistics ("GET /works").CPU > 0, "the CPU time was measured");
      Assert
        (Watched.Page_Statistics ("GET /works").CPU > Watched.Page_Statistics ("GET /waits").CPU,
         "a page that works uses more CPU time than a page that waits");
      Assert
        (Watched.Page_Statistics ("GET /waits").Total >= 60_000_000,
         "a page that waits takes time");
   end CPU_Time;

   procedure Written (T : in out Fixture) is
      pragma Unreferenced (T);

      Watched : aliased Monitors.Monitor;
      Query   : constant Monitors.Query := Watched.Query_Of ("SELECT name FROM t WHERE id = 7");
      Text    : aliased Text_Sinks.Text_Buffer (100_000);

      use Ada.Real_Time;

      procedure Serve (Id : String; Wait : Duration) is
         Timed : aliased Monitors.Timed_Request (Watched'Access);
      begin
         Monitors.Start (Timed, "GET", "/t/" & Id);
         delay Wait;
         for K in 1 .. 2 loop
            Watched.Record_Query (Query, 1_000);
         end loop;
         Monitors.Finish (Timed, 200, "/t/" & Id);
      end Serve;

      Start : constant Time := Clock;
   begin
      Serve ("1", 0.0);
      --  Longer than the first request, however long that took on a busy machine
      Serve ("2", 0.03 + To_Duration (Clock - Start));
      Monitors.JSON.Write (Watched, Text'Access, "a ""shop""");
      Assert
        (Has (Text.Content, """application"":""a \""shop\"""""), "the name of the application");
      Assert
        (Has (Text.Content,
              "{""name"":""SELECT name FROM t WHERE id = ?"",""count"":4,""errors"":0,"
              & """total_ns"":4000,""max_ns"":1000,""times"":[[1007,4]]}"),
         "the query: " & Text.Content);
      Assert
        (Ada.Strings.Fixed.Index (Text.Content, """/t/2""")
         < Ada.Strings.Fixed.Index (Text.Content, """/t/1"""),
         "the slowest request is first");
   end Written;

   package Caller is new AUnit.Test_Caller (Fixture);

   function Suite return AUnit.Test_Suites.Access_Test_Suite is
      Result : constant AUnit.Test_Suites.Access_Test_Suite := AUnit.Test_Suites.New_Suite;

      procedure Add (Text : String; Test : Caller.Test_Method) is
      begin
         Result.Add_Test (Caller.Create (Text, Test));
      end Add;
   begin
      Add ("names: routes", Routes'Access);
      Add ("names: queries", Queries'Access);
      Add ("names: queries by rules", Queries_By_Rules'Access);
      Add ("histograms: buckets", Buckets'Access);
      Add ("histograms: percentiles", Percentiles'Access);
      Add ("histograms: merging", Merging'Access);
      Add ("monitor: the filter", Filtered'Access);
      Add ("monitor: clients add no pages", Clients_Add_No_Pages'Access);
      Add ("monitor: statistics", Shows_Metrics'Access);
      Add ("monitor: on a separate port, for this machine", Shows_Only_Here'Access);
      Add ("monitor: on the application's port, with a token", Shows_With_Token'Access);
      Add ("monitor: databases", Databases'Access);
      Add ("monitor: no request is lost", Nothing_Is_Lost'Access);
      Add ("monitor: no heap memory", No_Memory'Access);
      Add ("monitor: CPU time", CPU_Time'Access);
      Add ("monitor: JSON", Written'Access);
      return Result;
   end Suite;

end Monitor_Tests;
