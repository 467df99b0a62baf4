--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

with Ada.Command_Line;
with Ada.Strings.Fixed;
with Response_Texts;
with Appserver.HTTP.Access_Logs;
with Appserver.HTTP.Conditions;
with Appserver.HTTP.Cookies;
with Appserver.HTTP.Embedded;
with Appserver.HTTP.Files;
with Appserver.HTTP.Parsing;
with Appserver.HTTP.REST;
with Appserver.HTTP.Server;
with Appserver.HTTP.Trials;
with Appserver.IP_Addresses;
with AUnit.Assertions;
with AUnit.Test_Caller;
with AUnit.Test_Fixtures;
with Test_Service;

package body Contract_Tests is

   use Appserver;
   use AUnit.Assertions;

   type Fixture is new AUnit.Test_Fixtures.Test_Fixture with null record;

   --  Checks that Act violates a precondition

   procedure Is_Broken (Name : String; Act : not null access procedure) is
   begin
      Act.all;
      Assert (False, Name & ": not checked");
   exception
      when Appserver.Misuse_Error =>
         null;
   end Is_Broken;

   procedure Servers (T : in out Fixture) is
      pragma Unreferenced (T);

      Web : HTTP.Server.Web_Server;

      procedure Start is
      begin
         Web.Start (Test_Service.Respond'Access);
      end Start;

      procedure Start_With_Loops is
      begin
         Web.Start
           (Test_Service.Respond'Access, Options => (Workers => 2, Loops => 3, others => <>));
      end Start_With_Loops;

      procedure Ask_Port is
      begin
         Assert (Web.Port'Image /= "", "a port");
      end Ask_Port;
   begin
      Is_Broken ("a port of none", Ask_Port'Access);
      Is_Broken ("more loops than workers", Start_With_Loops'Access);
      Start;
      Is_Broken ("started twice", Start'Access);
      Assert (Web.Is_Running, "it still runs");
   end Servers;

   package Device is new HTTP.Embedded (Handle => Test_Service.Respond'Access);

   procedure Devices (T : in out Fixture) is
      pragma Unreferenced (T);

      procedure Open is
      begin
         Device.Open;
      end Open;

      procedure Serve is
      begin
         Device.Serve;
      end Serve;

      procedure Close is
      begin
         Device.Close;
      end Close;
   begin
      Is_Broken ("served closed", Serve'Access);
      Is_Broken ("closed closed", Close'Access);
      Open;
      Is_Broken ("opened twice", Open'Access);
      Close;
   end Devices;

   Folder : HTTP.Files.Folder;

   Outside   : aliased constant String := "../index.html";
   Two_Lines : aliased constant String := "no-cache" & ASCII.CR & ASCII.LF & "X: y";

   function File (Request : HTTP.Request) return HTTP.Response is (Folder.Respond (Request, "/f/"));

   procedure Folders (T : in out Fixture) is
      pragma Unreferenced (T);

      procedure Open is
      begin
         Folder.Open (Ada.Command_Line.Argument (1));
      end Open;

      procedure Open_With_Index is
      begin
         Folder.Open (Ada.Command_Line.Argument (1), (Index => Outside'Access, others => <>));
      end Open_With_Index;

      procedure Open_With_Two_Lines is
      begin
         Folder.Open
           (Ada.Command_Line.Argument (1), (Cache_Control => Two_Lines'Access, others => <>));
      end Open_With_Two_Lines;
   begin
      Is_Broken ("an index elsewhere", Open_With_Index'Access);
      Is_Broken ("two lines in a field", Open_With_Two_Lines'Access);
      Assert
        (Response_Texts.Status
           (HTTP.Trials.Responses (File'Access, Response_Texts.Request_Text ("GET /f/x"))),
         "500", "a folder that is not open");
      Open;
      Is_Broken ("opened twice", Open'Access);
      Folder.Close;
   end Folders;

   procedure Requests (T : in out Fixture) is
      pragma Unreferenced (T);

      use HTTP;

      Builder : aliased Response_Builder (10);
      Request : HTTP.Request (30_000, Builder'Access);

      procedure Add is
      begin
         Parsing.Add (Request, [1 .. 30_001 => 'x']);
      end Add;

      procedure Parse is
         Result : Parsing.Outcome;
         Status : Status_Code;
      begin
         Parsing.Parse (Request, (others => <>), Result, Status);
      end Parse;

      procedure Add_Field is
      begin
         Builder.Add_Field ("X", "a" & ASCII.CR & ASCII.LF & "Y: b");
      end Add_Field;

      procedure Weigh is
      begin
         Assert (Conditions.Range_Holds (Request, "W/""x"""), "a weak tag");
      end Weigh;
   begin
      Is_Broken ("more than there is room for", Add'Access);
      Is_Broken ("limits that are larger", Parse'Access);
      Is_Broken ("two lines as a field", Add_Field'Access);
      Is_Broken ("a weak tag", Weigh'Access);
   end Requests;

   procedure Set_Error_Status (Response : in out HTTP.REST.Document_Response) is
   begin
      Response.Set_Status (HTTP.Not_Found);
   end Set_Error_Status;

   API : constant HTTP.REST.Service := HTTP.REST.Service_Of
     ([HTTP.REST.Route (HTTP.Get, "/x", Set_Error_Status'Access)]);

   function Respond (Request : HTTP.Request) return HTTP.Response is (API.Respond (Request));

   procedure Documents (T : in out Fixture) is
      pragma Unreferenced (T);

      procedure Make_Route is
         Long : constant HTTP.REST.Path_Route :=
           HTTP.REST.Route (HTTP.Get, [1 .. 201 => '/'], Set_Error_Status'Access);
         pragma Unreferenced (Long);
      begin
         null;
      end Make_Route;

      procedure Make_Route_To_Head is
         Of_Server : constant HTTP.REST.Path_Route :=
           HTTP.REST.Route (HTTP.Head, "/x", Set_Error_Status'Access);
         pragma Unreferenced (Of_Server);
      begin
         null;
      end Make_Route_To_Head;
   begin
      Assert
        (Response_Texts.Status
           (HTTP.Trials.Responses (Respond'Access, Response_Texts.Request_Text ("GET /x"))),
         "500", "404 as a success");
      Is_Broken ("a pattern that is too long", Make_Route'Access);
      Is_Broken ("a route to HEAD, which the server answers", Make_Route_To_Head'Access);
   end Documents;

   function Set_Cookie (Request : HTTP.Request) return HTTP.Response;

   procedure Services (T : in out Fixture) is
      pragma Unreferenced (T);

      Log : HTTP.Access_Logs.Access_Log (Lines => 2);

      procedure Open_Log is
      begin
         Log.Open ("/dev/null", HTTP.Access_Logs.Common);
      end Open_Log;

      procedure Open_None is
      begin
         Log.Open (HTTP.No_File, HTTP.Access_Logs.Common);
      end Open_None;

      procedure Use_Five_Octets is
      begin
         Assert
           (IP_Addresses.Is_IPv4 (IP_Addresses.From_Octets ([1, 2, 3, 4, 5])), "five octets");
      end Use_Five_Octets;
   begin
      Is_Broken ("no file", Open_None'Access);
      Open_Log;
      Is_Broken ("a log opened twice", Open_Log'Access);
      Log.Close;
      Open_Log;
      Is_Broken ("an address of five octets", Use_Five_Octets'Access);
      Assert
        (Response_Texts.Status
           (HTTP.Trials.Responses (Set_Cookie'Access, Response_Texts.Request_Text ("GET /"))),
         "500", "a cookie of all sites that is not secure");
   end Services;

   function Add_Field (Request : HTTP.Request) return HTTP.Response is
   begin
      Request.Builder.Append ("hello");
      Request.Builder.Add_Field (Request.Parameter ("name"), "3");
      return HTTP.Text_Response (HTTP.Plain_Text'Access);
   end Add_Field;

   --  Handlers must not set fields that frame a message or that the response sets: with two
   --  lengths, or a length and a transfer coding, servers and clients downstream would disagree
   --  about the message

   procedure Fields (T : in out Fixture) is
      pragma Unreferenced (T);

      procedure Check_Response (Name, Status : String; Count : Natural) is
         Response : constant String := HTTP.Trials.Responses
           (Add_Field'Access, Response_Texts.Request_Text ("GET /?name=" & Name));
      begin
         Assert (Response_Texts.Status (Response), Status, Name);
         Assert
           (Ada.Strings.Fixed.Count (Response, Name & ": 3") = Count, Name & " in " & Response);
      end Check_Response;
   begin
      Check_Response ("Content-Length", "500", 0);
      Check_Response ("cONTENT-lENGTH", "500", 0);
      Check_Response ("Transfer-Encoding", "500", 0);
      Check_Response ("transfer-encoding", "500", 0);
      Check_Response ("Trailer", "500", 0);
      Check_Response ("Connection", "500", 0);
      Check_Response ("Keep-Alive", "500", 0);
      Check_Response ("Upgrade", "500", 0);
      Check_Response ("Date", "500", 0);
      Check_Response ("Content-Type", "500", 0);
      Check_Response ("Content-Language", "200", 1);
      Check_Response ("Data", "200", 1);
   end Fields;

   function Set_Cookie (Request : HTTP.Request) return HTTP.Response is
   begin
      HTTP.Cookies.Set_Cookie
        (Request.Builder.all, "a", "b", Secure => False, Same_Site => HTTP.Cookies.None);
      return HTTP.Status_Only (HTTP.OK);
   end Set_Cookie;

   package Caller is new AUnit.Test_Caller (Fixture);

   function Suite return AUnit.Test_Suites.Access_Test_Suite is
      Result : constant AUnit.Test_Suites.Access_Test_Suite := AUnit.Test_Suites.New_Suite;

      procedure Add (Name : String; Test : Caller.Test_Method) is
      begin
         Result.Add_Test (Caller.Create ("contracts: " & Name, Test));
      end Add;
   begin
      Add ("servers", Servers'Access);
      Add ("devices", Devices'Access);
      Add ("folders", Folders'Access);
      Add ("requests", Requests'Access);
      Add ("documents", Documents'Access);
      Add ("logs, cookies, addresses", Services'Access);
      Add ("reserved fields", Fields'Access);
      return Result;
   end Suite;

end Contract_Tests;
