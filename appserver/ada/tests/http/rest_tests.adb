--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

with Response_Texts;
with Appserver.HTTP.REST;
with Appserver.HTTP.Trials;
with AUnit.Assertions;
with AUnit.Test_Caller;
with AUnit.Test_Fixtures;
with Dice;
with Shop;

package body REST_Tests is

   use Response_Texts;
   use Appserver;
   use Appserver.HTTP;
   use AUnit.Assertions;

   type Fixture is new AUnit.Test_Fixtures.Test_Fixture with null record;

   function Response_To
     (Path : String; Fields : String := ""; Method : String := "GET") return String is
     (Trials.Responses (Shop.Handle'Access, Request_Text (Method & " " & Path, Fields)));

   XML : constant String := "Accept: application/xml" & New_Line;

   procedure Gives (Path, Expected : String) is
   begin
      Assert (Status (Response_To (Path)), "200", Path);
      Assert (Content (Response_To (Path)), Expected, Path);
   end Gives;

   procedure Is_Refused (Path, Expected : String) is
   begin
      Assert (Status (Response_To (Path)), Expected, Path);
   end Is_Refused;

   procedure Finds_Routes (T : in out Fixture) is
      pragma Unreferenced (T);
   begin
      Gives ("/", "{""path"":""/""}");
      Gives ("/hello/Ada", "{""name"":""Ada""}");
      Gives ("/hello/Ada?x=y", "{""name"":""Ada""}");
      Gives ("/hello/nobody", "{""path"":""/hello/nobody""}");
      Gives ("/hello/nobod%79", "{""path"":""/hello/nobody""}");
      Gives ("/%68ello/Ada", "{""name"":""Ada""}");
      Gives ("/slash/", "{""path"":""/slash/""}");
      Gives ("/it's", "{""path"":""/it's""}");
      Gives ("/it%27s", "{""path"":""/it%27s""}");
      Is_Refused ("/it%28s", "404");
      Gives ("/plain", "always the same");
      Gives ("/rest/of/it", "{""path"":""/rest/of/it""}");
      Is_Refused ("/slash", "404");
      Is_Refused ("/slash//", "404");
      Is_Refused ("/hello", "404");
      Is_Refused ("/hello/", "404");
      Is_Refused ("/hello/Ada/", "404");
      Is_Refused ("/hello/Ada/x", "404");
      Is_Refused ("/Hello/Ada", "404");
      Is_Refused ("/hello%2fAda", "404");
      Is_Refused ("//", "404");
      Is_Refused ("/rest", "404");
      Is_Refused ("/rest/", "404");
      Is_Refused ("/x/../hello/Ada", "404");
   end Finds_Routes;

   --  A path that begins like one route and continues like another

   procedure Turns_Back (T : in out Fixture) is
      pragma Unreferenced (T);
   begin
      Gives ("/a/x/b/y", "{""path"":""/a/x/b/y""}");
      Gives ("/a/x/b/7/c/red", "{""name"":""x"",""amount"":7,""color"":""RED""}");
      Is_Refused ("/a/x/b/y/c/red", "400");
      Is_Refused ("/a/x/b/y/c", "404");
      Gives ("/rest/Ada", "{""name"":""Ada""}");
      Gives ("/turn/a/b/x", "{""first"":""b""}");
      Gives ("/turn/c/b/x", "{""first"":""c""}");
      Gives ("/turn/a/b/y", "{""first"":""a"",""rest"":""b/y""}");
      Gives ("/turn/%61/b/y", "{""first"":""a"",""rest"":""b/y""}");
      Gives ("/turn/a", "{""rest"":""a""}");
      Gives ("/turn/a/", "{""rest"":""a/""}");
      Gives ("/turn//b/x", "{""rest"":""/b/x""}");
      Is_Refused ("/turn/", "404");
      Is_Refused ("/turn", "404");
   end Turns_Back;

   procedure Converts_Parameters (T : in out Fixture) is
      pragma Unreferenced (T);
   begin
      Gives ("/hello/Ada%20%22x%22", "{""name"":""Ada \""x\""""}");
      Gives ("/hello/%25%3C", "{""name"":""%<""}");
      Is_Refused ("/hello/Ada9", "400");
      Is_Refused ("/hello/a+b", "400");
      Is_Refused ("/hello/%00", "400");
      Is_Refused ("/hello/" & [1 .. 33 => 'x'], "400");
      Gives ("/amounts/999999", "{""amount"":999999}");
      Gives ("/amounts/-10", "{""amount"":-10}");
      Gives ("/amounts/%31", "{""amount"":1}");
      Gives ("/amounts/007", "{""amount"":7}");
      Is_Refused ("/amounts/1000000", "400");
      Is_Refused ("/amounts/-11", "400");
      Is_Refused ("/amounts/+1", "400");
      Is_Refused ("/amounts/1.0", "400");
      Is_Refused ("/amounts/16%2310%23", "400");
      Is_Refused ("/amounts/1_0", "400");
      Is_Refused ("/amounts/%201", "400");
      Is_Refused ("/amounts/-", "400");
      Is_Refused ("/amounts/99999999999999999999999999", "400");
      Gives ("/ask?amount=5&color=dark_blue", "{""amount"":5,""color"":""DARK_BLUE""}");
      Gives ("/ask?x&&amount=5", "{""amount"":5,""color"":""GREEN""}");
      Gives ("/ask?%61mount=%35&amount=6", "{""amount"":5,""color"":""GREEN""}");
      Is_Refused ("/ask", "400");
      Is_Refused ("/ask?", "400");
      Is_Refused ("/ask?amount", "400");
      Is_Refused ("/ask?amount=", "400");
      Is_Refused ("/ask?amount=5&color=", "400");
      Is_Refused ("/ask?amount=5&color=RED", "400");
      Is_Refused ("/ask?amount=5&color=blue", "400");
   end Converts_Parameters;

   procedure Knows_Methods (T : in out Fixture) is
      pragma Unreferenced (T);
   begin
      Assert (Status (Response_To ("/hello/Ada", Method => "POST")), "201", "POST");
      Assert
        (Field (Response_To ("/hello/Ada", Method => "POST"), "Location"), "/hello/Ada",
         "Location");
      Assert (Status (Response_To ("/hello/Ada", Method => "DELETE")), "405", "DELETE");
      Assert
        (Field (Response_To ("/hello/Ada", Method => "DELETE"), "Allow"),
         "GET, HEAD, POST, OPTIONS", "Allow");
      Assert (Status (Response_To ("/hello/nobody", Method => "DELETE")), "204", "DELETE nobody");
      Assert
        (Field (Response_To ("/nothing"), "Allow"), "PUT, OPTIONS", "without GET");
      Assert (Status (Response_To ("/nothing", Method => "HEAD")), "405", "HEAD without GET");
      Assert (Status (Response_To ("/hello/Ada", Method => "OPTIONS")), "204", "OPTIONS");
      Assert
        (Field (Response_To ("/hello/Ada", Method => "OPTIONS"), "Allow"),
         "GET, HEAD, POST, OPTIONS", "Allow of OPTIONS");
      Assert (Status (Response_To ("/none", Method => "OPTIONS")), "404", "OPTIONS of nothing");
      Assert (Status (Response_To ("/hello/Ada", Method => "HEAD")), "200", "HEAD");
      Assert (Content (Response_To ("/hello/Ada", Method => "HEAD")), "", "HEAD has no content");
      Assert
        (Field (Response_To ("/hello/Ada", Method => "HEAD"), "Content-Length"), "14",
         "its length");
   end Knows_Methods;

   procedure Writes_As_Wanted (T : in out Fixture) is
      pragma Unreferenced (T);

      Declaration : constant String := "<?xml version=""1.0"" encoding=""UTF-8""?>";
   begin
      Assert (Field (Response_To ("/hello/Ada"), "Content-Type"), "application/json", "JSON");
      Assert (Field (Response_To ("/hello/Ada", XML), "Content-Type"), "application/xml", "XML");
      Assert (Field (Response_To ("/hello/Ada"), "Vary"), "Accept", "Vary");
      Assert
        (Content (Response_To ("/hello/%3CAda", XML)),
         Declaration & "<document><name>&lt;Ada</name></document>", "content");
      Assert
        (Status (Response_To ("/hello/Ada", "Accept: text/html" & New_Line)), "406", "neither");
      Gives ("/constant", "{""pi"":3}");
      Assert
        (Content (Response_To ("/constant", XML)), Declaration & "<constant><pi>3</pi></constant>",
         "a constant in XML");
      Assert
        (Field (Response_To ("/constant", XML), "Content-Type"), "application/xml", "its type");
      Assert (Field (Response_To ("/constant"), "Vary"), "Accept", "a constant varies too");
      Assert
        (Status (Response_To ("/constant", "Accept: text/html" & New_Line)), "406", "no constant");
      Assert (Status (Response_To ("/constant", Method => "POST")), "405", "POST of a constant");
      Assert
        (Status (Response_To ("/plain", "Accept: text/html" & New_Line)), "200", "no document");
      Assert
        (Status (Response_To
           ("/hello/Ada", "Accept: text/html" & New_Line & "Accept: */*;q=0.1" & New_Line)),
         "200", "two lines");
   end Writes_As_Wanted;

   procedure Tells_Why (T : in out Fixture) is
      pragma Unreferenced (T);
   begin
      Assert (Status (Response_To ("/refused")), "409", "refused");
      Assert
        (Content (Response_To ("/refused")),
         "{""status"":409,""title"":""Conflict"",""detail"":""it's <taken>""}", "why");
      Assert
        (Content (Response_To ("/refused", XML)),
         "<?xml version=""1.0"" encoding=""UTF-8""?><problem><status>409</status>"
         & "<title>Conflict</title><detail>it's &lt;taken&gt;</detail></problem>", "why, in XML");
      Assert
        (Content (Response_To ("/hello/9")),
         "{""status"":400,""title"":""Bad Request"","
         & """detail"":""the parameter name is missing or invalid""}", "a parameter");
      Assert (Status (Response_To ("/forgotten")), "500", "a document that does not end");
   end Tells_Why;

   procedure Any_Path_Is_Answered (T : in out Fixture) is
      pragma Unreferenced (T);

      use Dice;

      Pieces : constant Piece_List :=
        [+"/", +"a", +"x", +"b", +"7", +"c", +"red", +"hello", +"nobody", +"ask", +"?", +"&", +"=",
         +"amount", +"color", +"%20", +"%2f", +"%00", +"%ff", +"%", +"+", +"rest", +"of", +"it",
         +"amounts", +"slash", +"-", +"999999", +"//", +"/a/x/b/", +"/hello/", +"/ask?amount=",
         +"/turn/"];
   begin
      for Round in 1 .. 20_000 loop
         declare
            Path : constant String := "/" & Joined (Pieces, 10);
            Text : constant String := Response_To (Path);
         begin
            Assert (Status (Text) in "200" | "400" | "404" | "405", Path & ": " & Status (Text));
         end;
      end loop;
   end Any_Path_Is_Answered;

   ------------
   -- Routes --
   ------------

   procedure Refuses_Routes (T : in out Fixture) is
      pragma Unreferenced (T);

      use type REST.Route_List;

      procedure Refuses (Pattern : String) is
      begin
         declare
            Service : constant REST.Service := REST.Service_Of
              (Shop.Routes & [REST.Route (Get, Pattern, Handler'(Shop.Handle'Access))]);
            pragma Unreferenced (Service);
         begin
            Assert (False, Pattern);
         end;
      exception
         when REST.Route_Error =>
            null;
      end Refuses;
   begin
      Refuses ("");
      Refuses ("x");
      Refuses ("/{x");
      Refuses ("/x}");
      Refuses ("/{}");
      Refuses ("/{...}");
      Refuses ("/x{y}");
      Refuses ("/{a}{b}");
      Refuses ("/{x...}/y");
      Refuses ("/%20");
      Refuses ("/{" & [1 .. 33 => 'x'] & "}");
      Refuses ("/{a}/{b}/{c}/{d}/{e}/{f}/{g}/{h}/{i}");
      Refuses ("/");
      Refuses ("/hello/{name}");
      Refuses ("/hello/{other}");
      Refuses ("/rest/{other...}");
   end Refuses_Routes;

   package Caller is new AUnit.Test_Caller (Fixture);

   function Suite return AUnit.Test_Suites.Access_Test_Suite is
      Result : constant AUnit.Test_Suites.Access_Test_Suite := AUnit.Test_Suites.New_Suite;

      procedure Add (Name : String; Test : Caller.Test_Method) is
      begin
         Result.Add_Test (Caller.Create ("rest: " & Name, Test));
      end Add;

   begin
      Add ("finds routes", Finds_Routes'Access);
      Add ("backtracks", Turns_Back'Access);
      Add ("converts parameters", Converts_Parameters'Access);
      Add ("methods", Knows_Methods'Access);
      Add ("formats", Writes_As_Wanted'Access);
      Add ("reasons", Tells_Why'Access);
      Add ("any path gets a response", Any_Path_Is_Answered'Access);
      Add ("rejects routes", Refuses_Routes'Access);
      return Result;
   end Suite;

end REST_Tests;
