--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

with Ada.Strings.Unbounded;
with Response_Texts;
with Appserver.HTTP.Filters;
with Appserver.HTTP.Services;
with Appserver.HTTP.Trials;
with AUnit.Assertions;
with AUnit.Test_Caller;
with AUnit.Test_Fixtures;
with Filter_Services;

package body Filter_Tests is

   use Ada.Strings.Unbounded;
   use Response_Texts;
   use Appserver;
   use AUnit.Assertions;
   use Filter_Services;

   type Fixture is new AUnit.Test_Fixtures.Test_Fixture with null record;

   type HTTP_Services is array (Positive range <>) of HTTP.Services.Service_Reference;

   procedure Expect
     (Service : not null HTTP.Services.Service_Reference;
      Request : String;
      Status  : String;
      Order   : String)
   is
      Response : constant String := HTTP.Trials.Responses (Service, Request);
   begin
      Assert (Response_Texts.Status (Response), Status, Response);
      Assert (To_String (Notes), Order, "order of " & Request);
      Notes := Null_Unbounded_String;
   end Expect;

   function Posted (Path : String) return String is
     (Request_Text ("POST " & Path, Content => "content"));

   procedure Without_Content (T : in out Fixture) is
      pragma Unreferenced (T);
   begin
      for Service of HTTP_Services'(Outer_Plain'Access, Outer'Access, Outer_Routed'Access) loop
         Expect (Service, Request_Text ("GET /"), "200",
                 "before a, before b, answer, after b, after a, ");
         Expect (Service, Request_Text ("GET /stop/a"), "403", "before a, after a, ");
         Expect (Service, Request_Text ("GET /stop/b"), "403",
                 "before a, before b, after b, after a, ");
         Expect (Service, Request_Text ("GET /other"), "410",
                 "before a, before b, answer, after b, after a, ");
         Expect (Service, Request_Text ("GET /raise/before"), "500", "before a, ");
         Expect (Service, Request_Text ("GET /raise/after"), "500",
                 "before a, before b, answer, after b, ");
      end loop;
   end Without_Content;

   procedure With_Fields (T : in out Fixture) is
      Response : constant String :=
        HTTP.Trials.Responses (Outer_Plain'Access, Request_Text ("GET /"));

      pragma Unreferenced (T);
   begin
      Notes := Null_Unbounded_String;
      Assert (Field (Response, "X-a") & Field (Response, "X-b"), "11", "fields of both");
   end With_Fields;

   procedure With_Content (T : in out Fixture) is
      pragma Unreferenced (T);
   begin
      Expect (Outer_Plain'Access, Posted ("/"), "200",
              "before a, before b, answer, after b, after a, ");
      Expect (Outer'Access, Posted ("/"), "200",
              "before a, before b, plan, answer, after b, after a, ");
      Expect (Outer'Access, Posted ("/stop/a"), "403", "before a, after a, ");
      Expect (Outer'Access, Posted ("/stop/b"), "403", "before a, before b, after b, after a, ");
      Expect (Outer'Access, Posted ("/refused"), "401",
              "before a, before b, plan, after b, after a, ");
      Expect (Outer'Access, Posted ("/stream"), "200",
              "before a, before b, plan, take, received, after b, after a, ");
      Expect (Outer'Access, Posted ("/raise/before"), "500", "before a, ");
   end With_Content;

   --  A service between filters that does not support policies does not let requests bypass the
   --  inner filter

   procedure Behind_A_Router (T : in out Fixture) is
      pragma Unreferenced (T);
   begin
      Expect (Outer_Routed'Access, Posted ("/"), "200",
              "before a, before b, answer, after b, after a, ");
      Expect (Outer_Routed'Access, Posted ("/stop/b"), "403",
              "before a, before b, after b, after a, ");
      Expect (Routed'Access, Posted ("/stop/b"), "403", "before b, after b, ");
   end Behind_A_Router;

   procedure Around (T : in out Fixture) is
      pragma Unreferenced (T);
   begin
      Expect (Caught'Access, Request_Text ("GET /raise/before"), "409", "before b, ");
      Expect (Caught'Access, Request_Text ("GET /"), "200", "before b, answer, after b, ");
   end Around;

   function Greet (Request : HTTP.Request) return HTTP.Response is
   begin
      Request.Builder.Append ("hello");
      return HTTP.Text_Response (HTTP.Plain_Text'Access);
   end Greet;

   Function_Service : aliased HTTP.Filters.Function_Service (Greet'Access);
   Filtered         : aliased Noting ('a', Function_Service'Access);

   procedure A_Function (T : in out Fixture) is
      pragma Unreferenced (T);
   begin
      Expect (Filtered'Access, Request_Text ("GET /"), "200", "before a, after a, ");
   end A_Function;

   --  A program has marks for 64 filters. Additional filters may be called more than once, but at
   --  least once.

   procedure Many (T : in out Fixture) is
      Last : HTTP.Services.Service_Reference;

      pragma Unreferenced (T);
   begin
      for K in 1 .. 70 loop
         Last := new Noting ('z', Policy_Service'Access);
      end loop;
      Expect (Last, Posted ("/"), "200",
              "before z, plan, before z, answer, after z, ");
      Expect (Last, Posted ("/stop/z"), "403",
              "before z, after z, ");
   end Many;

   package Caller is new AUnit.Test_Caller (Fixture);

   function Suite return AUnit.Test_Suites.Access_Test_Suite is
      Result : constant AUnit.Test_Suites.Access_Test_Suite := AUnit.Test_Suites.New_Suite;

      procedure Add (Name : String; Test : Caller.Test_Method) is
      begin
         Result.Add_Test (Caller.Create ("filters: " & Name, Test));
      end Add;
   begin
      Add ("their order", Without_Content'Access);
      Add ("fields", With_Fields'Access);
      Add ("content", With_Content'Access);
      Add ("behind a router", Behind_A_Router'Access);
      Add ("a wrapping filter", Around'Access);
      Add ("in front of a function", A_Function'Access);
      Add ("more filters than marks", Many'Access);
      return Result;
   end Suite;

end Filter_Tests;
