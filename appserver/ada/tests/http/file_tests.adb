--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

with Ada.Command_Line;
with Ada.Directories;
with Ada.Streams.Stream_IO;
with Response_Texts;
with Appserver.HTTP.Dates;
with Appserver.HTTP.Access_Logs;
with Appserver.HTTP.Files;
with Appserver.HTTP.Trials;
with AUnit.Assertions;
with AUnit.Test_Caller;
with AUnit.Test_Fixtures;
with Dice;
with GNAT.OS_Lib;

package body File_Tests is

   use Response_Texts;
   use Appserver;
   use AUnit.Assertions;

   ---------------
   -- Directory --
   ---------------

   --  outside.txt        Not to be had
   --  public/ten.txt     0123456789
   --  public/empty.html
   --  public/a b.json
   --  public/.hidden
   --  public/sub/inner.bin
   --  public/out         -> ../outside.txt
   --  public/within      -> ten.txt
   --  public/up          -> ..
   --  public/pipe        (a named pipe)

   function Root return String is (Ada.Command_Line.Argument (1) & "/files");
   function Public return String is (Root & "/public");

   procedure Put (Path, Content : String) is
      use Ada.Streams.Stream_IO;

      File : File_Type;
   begin
      Create (File, Out_File, Path);
      String'Write (Stream (File), Content);
      Close (File);
   end Put;

   procedure Run (Program : String; Arguments : GNAT.OS_Lib.Argument_List) is
      Path       : constant GNAT.OS_Lib.String_Access := GNAT.OS_Lib.Locate_Exec_On_Path (Program);
      Is_Spawned : Boolean;
   begin
      GNAT.OS_Lib.Spawn (Path.all, Arguments, Is_Spawned);
      Assert (Is_Spawned, Program);
   end Run;

   procedure Link (Target, Path : String) is
   begin
      Run ("ln", [new String'("-s"), new String'(Target), new String'(Path)]);
   end Link;

   Folder : HTTP.Files.Folder;

   function Serve (Request : HTTP.Request) return HTTP.Response is
     (Folder.Respond (Request, "/f/"));

   type Fixture is new AUnit.Test_Fixtures.Test_Fixture with null record;

   overriding procedure Set_Up (T : in out Fixture);
   overriding procedure Tear_Down (T : in out Fixture);

   overriding procedure Set_Up (T : in out Fixture) is
      pragma Unreferenced (T);
   begin
      if Ada.Directories.Exists (Root) then
         Run ("rm", [new String'("-r"), new String'(Root)]);
      end if;
      Ada.Directories.Create_Path (Public & "/sub");
      Put (Root & "/outside.txt", "secret");
      Put (Public & "/ten.txt", "0123456789");
      Put (Public & "/empty.html", "");
      Put (Public & "/a b.json", "{}");
      Put (Public & "/.hidden", "secret");
      Put (Public & "/sub/inner.bin", "inner");
      Link ("../outside.txt", Public & "/out");
      Link ("ten.txt", Public & "/within");
      Link ("..", Public & "/up");
      Run ("mkfifo", [1 => new String'(Public & "/pipe")]);
      Run ("touch", [new String'("-d"), new String'("1994-11-06T08:49:37Z"),
                     new String'(Public & "/ten.txt")]);
      Folder.Open (Public);
   end Set_Up;

   overriding procedure Tear_Down (T : in out Fixture) is
      pragma Unreferenced (T);
   begin
      Folder.Close;
   end Tear_Down;

   Changed : constant String := "Sun, 06 Nov 1994 08:49:37 GMT";

   function Response_To
     (Path : String; Fields : String := ""; Method : String := "GET") return String is
     (HTTP.Trials.Responses (Serve'Access, Request_Text (Method & " /f/" & Path, Fields)));

   function Header (Name, Value : String) return String is (Name & ": " & Value & New_Line);

   -----------
   -- Whole --
   -----------

   procedure Whole_Files (T : in out Fixture) is
      pragma Unreferenced (T);

      Ten : constant String := Response_To ("ten.txt");
   begin
      Assert (Status (Ten), "200", "status");
      Assert (Content (Ten), "0123456789", "content");
      Assert (Field (Ten, "Content-Type"), "text/plain; charset=utf-8", "type");
      Assert (Field (Ten, "Content-Length"), "10", "length");
      Assert (Field (Ten, "Last-Modified"), Changed, "time");
      Assert (Field (Ten, "Accept-Ranges"), "bytes", "ranges");
      Assert (Content (Response_To ("sub/inner.bin")), "inner", "in a folder");
      Assert
        (Field (Response_To ("sub/inner.bin"), "Content-Type"), "application/octet-stream", "type");
      Assert (Content (Response_To ("a%20b.json")), "{}", "encoded");
      Assert (Content (Response_To ("%74en.txt")), "0123456789", "encoded without need");
      Assert (Status (Response_To ("empty.html")), "200", "empty");
      Assert (Field (Response_To ("empty.html"), "Content-Length"), "0", "empty");
   end Whole_Files;

   procedure Heads (T : in out Fixture) is
      pragma Unreferenced (T);

      Head : constant String := Response_To ("ten.txt", Method => "HEAD");
   begin
      Assert (Status (Head), "200", "status");
      Assert (Content (Head), "", "no content");
      Assert (Field (Head, "Content-Length"), "10", "length");
      Assert (Field (Head, "ETag"), Field (Response_To ("ten.txt"), "ETag"), "tag");
      Assert (Status (Response_To ("none", Method => "HEAD")), "404", "none");
   end Heads;

   procedure Other_Methods (T : in out Fixture) is
      pragma Unreferenced (T);
   begin
      Assert (Status (Response_To ("ten.txt", Method => "DELETE")), "405", "DELETE");
      Assert
        (Field (Response_To ("ten.txt", Method => "POST"), "Allow"), "GET, HEAD, OPTIONS", "Allow");
      Assert (Status (Response_To ("ten.txt", Method => "OPTIONS")), "204", "OPTIONS");
   end Other_Methods;

   procedure No_Way_Out (T : in out Fixture) is
      pragma Unreferenced (T);

      procedure Is_Nothing (Path : String) is
      begin
         Assert (Status (Response_To (Path)), "404", Path);
      end Is_Nothing;
   begin
      Is_Nothing ("");
      Is_Nothing ("none");
      Is_Nothing ("sub");
      Is_Nothing ("sub/");
      Is_Nothing ("ten.txt/");
      Is_Nothing ("ten.txt/x");
      Is_Nothing (".");
      Is_Nothing ("..");
      Is_Nothing ("../outside.txt");
      Is_Nothing ("sub/../ten.txt");
      Is_Nothing ("sub/../../outside.txt");
      Is_Nothing ("./ten.txt");
      Is_Nothing ("//ten.txt");
      Is_Nothing ("sub//inner.bin");
      Is_Nothing ("%2e%2e/outside.txt");
      Is_Nothing ("%2e%2e%2foutside.txt");
      Is_Nothing ("..%2foutside.txt");
      Is_Nothing ("sub%2finner.bin");
      Is_Nothing ("%252e%252e/outside.txt");
      Is_Nothing ("..%5coutside.txt");
      Is_Nothing ("sub%5cinner.bin");
      Is_Nothing ("ten.txt%00");
      Is_Nothing ("ten.txt%00.html");
      Is_Nothing ("%00");
      Is_Nothing ("..%c0%afoutside.txt");
      Is_Nothing ("%c0%ae%c0%ae/outside.txt");
      Is_Nothing (".hidden");
      Is_Nothing ("%2ehidden");
      Is_Nothing ("/etc/passwd");
      Is_Nothing ("%2fetc%2fpasswd");
      Is_Nothing ("out");
      Is_Nothing ("within");
      Is_Nothing ("up/outside.txt");
      Is_Nothing ("up/public/ten.txt");
      Is_Nothing ("pipe");
      Is_Nothing ([1 .. 300 => 'x']);
      Is_Nothing ([1 .. 5_000 => 'x']);
   end No_Way_Out;

   procedure No_Folder (T : in out Fixture) is
      pragma Unreferenced (T);

      Other : HTTP.Files.Folder;
   begin
      Other.Open (Root & "/none");
      Assert (False, "there is none");
   exception
      when HTTP.Files.Folder_Error =>
         Assert (not Other.Is_Open, "it is not open");
   end No_Folder;

   --  All opened files are closed again

   procedure Nothing_Leaks (T : in out Fixture) is
      pragma Unreferenced (T);

      --  Returns the next descriptor: the system returns the lowest free one

      function Next_Descriptor return GNAT.OS_Lib.File_Descriptor is
         use GNAT.OS_Lib;

         Result : constant File_Descriptor := Open_Read ("/dev/null", Binary);
      begin
         Close (Result);
         return Result;
      end Next_Descriptor;

      use type GNAT.OS_Lib.File_Descriptor;

      Before : constant GNAT.OS_Lib.File_Descriptor := Next_Descriptor;
      Tag    : constant String := Field (Response_To ("ten.txt"), "ETag");
   begin
      for Round in 1 .. 10 loop
         Assert (Status (Response_To ("sub/inner.bin")), "200", "whole");
         Assert (Status (Response_To ("sub/none")), "404", "none");
         Assert (Status (Response_To ("up/ten.txt")), "404", "a link");
         Assert (Status (Response_To ("sub")), "404", "a folder");
         Assert (Status (Response_To ("pipe")), "404", "a pipe");
         Assert (Status (Response_To ("ten.txt", Method => "HEAD")), "200", "head");
         Assert (Status (Response_To ("ten.txt", Header ("If-None-Match", Tag))), "304", "304");
         Assert (Status (Response_To ("ten.txt", Header ("If-Match", """x"""))), "412", "412");
         Assert (Status (Response_To ("ten.txt", Header ("Range", "bytes=2-3"))), "206", "206");
         Assert (Status (Response_To ("ten.txt", Header ("Range", "bytes=20-"))), "416", "416");
      end loop;
      Assert (Next_Descriptor = Before, "as many files are open");
   end Nothing_Leaks;

   ----------------
   -- Conditions --
   ----------------

   Before_Change : constant String := "Sun, 06 Nov 1994 08:49:36 GMT";
   After_Change  : constant String := "Sun, 06 Nov 1994 08:49:38 GMT";

   procedure Conditions_Hold (T : in out Fixture) is
      pragma Unreferenced (T);

      Tag   : constant String := Field (Response_To ("ten.txt"), "ETag");
      Other : constant String := """other""";

      procedure Gives (Fields, Expected : String) is
      begin
         Assert (Status (Response_To ("ten.txt", Fields)), Expected, Fields);
      end Gives;
   begin
      Gives (Header ("If-None-Match", Tag), "304");
      Gives (Header ("If-None-Match", "W/" & Tag), "304");
      Gives (Header ("If-None-Match", Other & ", " & Tag), "304");
      Gives (Header ("If-None-Match", Other) & Header ("If-None-Match", Tag), "304");
      Gives (Header ("If-None-Match", "*"), "304");
      Gives (Header ("If-None-Match", Other), "200");
      Gives (Header ("If-None-Match", """a, " & Tag), "200");
      Gives (Header ("If-None-Match", "W/"), "200");
      Gives (Header ("If-None-Match", ""), "200");
      Gives (Header ("If-Match", Tag), "200");
      Gives (Header ("If-Match", "*"), "200");
      Gives (Header ("If-Match", "W/" & Tag), "412");
      Gives (Header ("If-Match", Other), "412");
      Gives (Header ("If-Modified-Since", Changed), "304");
      Gives (Header ("If-Modified-Since", After_Change), "304");
      Gives (Header ("If-Modified-Since", Before_Change), "200");
      Gives (Header ("If-Modified-Since", "yesterday"), "200");
      Gives (Header ("If-Modified-Since", "Sunday, 06-Nov-94 08:49:37 GMT"), "304");
      Gives (Header ("If-Modified-Since", "Sun Nov  6 08:49:37 1994"), "304");
      Gives (Header ("If-Unmodified-Since", Changed), "200");
      Gives (Header ("If-Unmodified-Since", After_Change), "200");
      Gives (Header ("If-Unmodified-Since", Before_Change), "412");
      --  The precedence of RFC 9110, 13.2.2
      Gives (Header ("If-Match", Tag) & Header ("If-Unmodified-Since", Before_Change), "200");
      Gives (Header ("If-Match", Other) & Header ("If-None-Match", Tag), "412");
      Gives (Header ("If-Match", Tag) & Header ("If-None-Match", Tag), "304");
      Gives (Header ("If-None-Match", Other) & Header ("If-Modified-Since", Changed), "200");
      Gives (Header ("If-None-Match", Tag) & Header ("If-Modified-Since", Before_Change), "304");
      Gives (Header ("If-None-Match", Tag) & Header ("Range", "bytes=0-1"), "304");
      Assert
        (Field (Response_To ("ten.txt", Header ("If-None-Match", Tag)), "ETag"), Tag,
         "304 has the tag");
      Assert
        (Content (Response_To ("ten.txt", Header ("If-None-Match", Tag))), "",
         "304 has no content");
   end Conditions_Hold;

   procedure Tags_Change (T : in out Fixture) is
      pragma Unreferenced (T);

      Tag : constant String := Field (Response_To ("ten.txt"), "ETag");
   begin
      Assert (Field (Response_To ("ten.txt"), "ETag"), Tag, "the same");
      Put (Public & "/ten.txt", "9876543210");
      Assert (Field (Response_To ("ten.txt"), "ETag") /= Tag, "of another time");
   end Tags_Change;

   ------------
   -- Ranges --
   ------------

   procedure Ranges (T : in out Fixture) is
      pragma Unreferenced (T);

      procedure Gives (Value, Part, Place : String) is
         Text : constant String := Response_To ("ten.txt", Header ("Range", Value));
      begin
         Assert (Status (Text), "206", Value);
         Assert (Content (Text), Part, Value);
         Assert (Field (Text, "Content-Range"), "bytes " & Place & "/10", Value);
         Assert (Field (Text, "Content-Length") = Part'Length'Image (2 .. Part'Length'Image'Last),
                 Value);
      end Gives;

      procedure Gives_All (Value : String) is
      begin
         Assert (Status (Response_To ("ten.txt", Header ("Range", Value))), "200", Value);
      end Gives_All;

      procedure Gives_None (Value : String; File : String := "ten.txt"; Size : String := "10") is
         Text : constant String := Response_To (File, Header ("Range", Value));
      begin
         Assert (Status (Text), "416", Value);
         Assert (Field (Text, "Content-Range"), "bytes */" & Size, Value);
      end Gives_None;
   begin
      Gives ("bytes=0-0", "0", "0-0");
      Gives ("bytes=2-4", "234", "2-4");
      Gives ("bytes=7-", "789", "7-9");
      Gives ("bytes=-3", "789", "7-9");
      Gives ("bytes=-30", "0123456789", "0-9");
      Gives ("bytes=5-99", "56789", "5-9");
      Gives ("bytes=5-99999999999999999999999999", "56789", "5-9");
      Gives ("BYTES=9-9", "9", "9-9");
      Gives ("bytes= 1-2 ", "12", "1-2");
      Gives ("bytes=,1-2,", "12", "1-2");
      Gives ("bytes=20-30, 1-2", "12", "1-2");
      Gives_All ("bytes=0-1,3-4");
      Gives_All ("bytes=4-2");
      Gives_All ("bytes=a-b");
      Gives_All ("bytes=1");
      Gives_All ("bytes=-");
      Gives_All ("bytes=");
      Gives_All ("bytes=,");
      Gives_All ("bytes=1-2x");
      Gives_All ("bytes=1-2 3-4");
      Gives_All ("lines=1-2");
      Gives_None ("bytes=10-");
      Gives_None ("bytes=10-20");
      Gives_None ("bytes=-0");
      Gives_None ("bytes=99999999999999999999999999-");
      Gives_None ("bytes=0-", "empty.html", "0");
      Gives_None ("bytes=-1", "empty.html", "0");
      Assert
        (Status (Response_To ("ten.txt", Header ("Range", "bytes=1-2"), "HEAD")), "200",
         "a range is for GET");
   end Ranges;

   procedure Ranges_Of_What_It_Was (T : in out Fixture) is
      pragma Unreferenced (T);

      Tag : constant String := Field (Response_To ("ten.txt"), "ETag");

      procedure Gives (Value, Expected : String) is
      begin
         Assert
           (Status
              (Response_To ("ten.txt", Header ("Range", "bytes=1-2") & Header ("If-Range", Value))),
            Expected, Value);
      end Gives;
   begin
      Gives (Tag, "206");
      Gives ("W/" & Tag, "200");
      Gives ("""other""", "200");
      --  There may have been two versions within the same second
      Gives (Changed, "200");
      Gives (Before_Change, "200");
      Gives (After_Change, "200");
      Gives ("", "200");
   end Ranges_Of_What_It_Was;

   --  Any request gets one of the possible responses

   procedure Any_Request_Is_Answered (T : in out Fixture) is
      pragma Unreferenced (T);

      use Dice;

      Paths  : constant Piece_List :=
        [+"ten.txt", +"sub", +"inner.bin", +"/", +"..", +".", +"%2e", +"%2f", +"%5c", +"%00", +"up",
         +"out", +"%", +"x", +"%ff", +"+", +"~", +"outside.txt"];
      Values : constant Piece_List :=
        [+"bytes=", +"0", +"9", +"-", +",", +" ", +"""", +"W/", +"*", +"99999999999999999999",
         +Changed, +"Sun Nov  6 08:49:37 1994", +"Sunday, 06-Nov-94 08:49:37 GMT", +":", +"GMT",
         +Field (Response_To ("ten.txt"), "ETag")];
      Names  : constant Piece_List :=
        [+"Range", +"If-Range", +"If-Match", +"If-None-Match", +"If-Modified-Since",
         +"If-Unmodified-Since"];

      function Random_Field return String is
        (Header (Names (Names'First + Next (Names'Length)).all, Joined (Values, 5)));

   begin
      for Round in 1 .. 5_000 loop
         declare
            Path : constant String := Joined (Paths, 6);
            Text : constant String := Response_To (Path);
         begin
            Assert (Status (Text) in "200" | "400" | "404", Path & ": " & Status (Text));
            Assert (Content (Text) in "" | "0123456789" | "inner", Path & ": " & Content (Text));
         end;
         declare
            Fields : constant String := Random_Field & Random_Field & Random_Field;
            Text   : constant String := Response_To ("ten.txt", Fields);
         begin
            Assert
              (Status (Text) in "200" | "206" | "304" | "412" | "416",
               Fields & ": " & Status (Text));
         end;
      end loop;
   end Any_Request_Is_Answered;

   ---------------------
   -- Dates and types --
   ---------------------

   procedure Times_Are_Dates (T : in out Fixture) is
      pragma Unreferenced (T);

      use HTTP.Dates;

      Now : constant Common_Time := 1_795_298_400;
      --  In November 2026

      procedure Is_None (Text : String) is
      begin
         Assert (Value (Text, Now) = No_Time, Text);
      end Is_None;
   begin
      Assert (Image (0), "Thu, 01 Jan 1970 00:00:00 GMT", "the first");
      Assert (Image (784_111_777), Changed, "of the RFC");
      Assert (Image (951_782_400), "Tue, 29 Feb 2000 00:00:00 GMT", "a leap day");
      Assert (Image (Last_Year), "Fri, 31 Dec 9999 23:59:59 GMT", "the last");
      for Days in Common_Time range 0 .. 60_000 loop
         Assert (Value (Image (Days * 86_400 + Days), Now) = Days * 86_400 + Days, "and back");
      end loop;
      Assert (Value ("Sunday, 06-Nov-94 08:49:37 GMT", Now) = 784_111_777, "RFC 850");
      Assert (Value ("Sun Nov  6 08:49:37 1994", Now) = 784_111_777, "asctime");
      Assert (Value ("Sun Nov 16 08:49:37 1994", Now) = 784_975_777, "asctime, two digits");
      Assert (Image (Value ("Friday, 01-Jan-76 00:00:00 GMT", Now)) (13 .. 16), "2076", "50 years");
      Assert (Image (Value ("Friday, 01-Jan-77 00:00:00 GMT", Now)) (13 .. 16), "1977", "51 years");
      Is_None ("");
      Is_None ("Sun, 06 Nov 1994 08:49:37 UTC");
      Is_None ("Sun, 06 Nov 1994 08:49:37 GMT ");
      Is_None ("Sun, 6 Nov 1994 08:49:37 GMT");
      Is_None ("Sun, 31 Nov 1994 08:49:37 GMT");
      Is_None ("Sun, 29 Feb 1900 08:49:37 GMT");
      Is_None ("Sun, 00 Nov 1994 08:49:37 GMT");
      Is_None ("Sun, 06 Nov 1994 24:00:00 GMT");
      Is_None ("Sun, 06 Nov 1994 23:60:00 GMT");
      Is_None ("Sun, 06 Nov 1994 23:00:61 GMT");
      Is_None ("Sun, 06 Nvo 1994 08:49:37 GMT");
      Is_None ("Sun, 06 Nov 19x4 08:49:37 GMT");
      Is_None ("Sun, 06 Nov 1994 08.49:37 GMT");
      Is_None ("Sunday, 06-Nov-9x 08:49:37 GMT");
      Is_None ("Sun Nov  6 08:49:37 199x");
   end Times_Are_Dates;

   procedure Types (T : in out Fixture) is
      pragma Unreferenced (T);

      function Kind (Name : String) return String is (HTTP.Files.Media_Type_Of (Name).all);
   begin
      Assert (Kind ("index.html"), "text/html; charset=utf-8", "html");
      Assert (Kind ("a.b/INDEX.HTM"), "text/html; charset=utf-8", "HTM");
      Assert (Kind ("x.webmanifest"), "application/manifest+json", "the longest");
      Assert (Kind ("x.webmanifests"), "application/octet-stream", "longer");
      Assert (Kind ("html"), "application/octet-stream", "no dot");
      Assert (Kind ("a.html/b"), "application/octet-stream", "a folder's dot");
      Assert (Kind ("x."), "application/octet-stream", "nothing behind the dot");
      Assert (Kind ("x.tar.gz"), "application/gzip", "two dots");
      Assert (Kind (""), "application/octet-stream", "nothing");
   end Types;

   --  Opening the pipe does not wait for a reader

   procedure Log_To_Pipe (T : in out Fixture) is
      pragma Unreferenced (T);

      Log : HTTP.Access_Logs.Access_Log (Lines => 2);
   begin
      Log.Open (Public & "/pipe", HTTP.Access_Logs.Common);
      Assert (False, "no exception");
   exception
      when HTTP.Access_Logs.Log_Error => null;
   end Log_To_Pipe;

   package Caller is new AUnit.Test_Caller (Fixture);

   function Suite return AUnit.Test_Suites.Access_Test_Suite is
      Result : constant AUnit.Test_Suites.Access_Test_Suite := AUnit.Test_Suites.New_Suite;

      procedure Add (Name : String; Test : Caller.Test_Method) is
      begin
         Result.Add_Test (Caller.Create ("files: " & Name, Test));
      end Add;

   begin
      Add ("whole files", Whole_Files'Access);
      Add ("HEAD", Heads'Access);
      Add ("other methods", Other_Methods'Access);
      Add ("no access outside of the directory", No_Way_Out'Access);
      Add ("a missing directory", No_Folder'Access);
      Add ("nothing leaks", Nothing_Leaks'Access);
      Add ("conditional requests", Conditions_Hold'Access);
      Add ("tags change", Tags_Change'Access);
      Add ("ranges", Ranges'Access);
      Add ("ranges of an older version", Ranges_Of_What_It_Was'Access);
      Add ("any request gets a response", Any_Request_Is_Answered'Access);
      Add ("formats of dates", Times_Are_Dates'Access);
      Add ("types", Types'Access);
      Add ("an access log to a named pipe that nobody reads", Log_To_Pipe'Access);
      return Result;
   end Suite;

end File_Tests;
