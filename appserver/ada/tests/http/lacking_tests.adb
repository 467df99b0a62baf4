--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

with Ada.Exceptions;
with Ada.Strings.Unbounded;
with Response_Texts;
with Appserver.HTTP.Server;
with AUnit.Assertions;
with AUnit.Test_Caller;
with AUnit.Test_Fixtures;
with Await;
with Failing_Calls;
with Failing_Threads;
with GNAT.Sockets;
with Open_Files;
with Test_Clients;
with Test_Service;

package body Lacking_Tests is

   use Ada.Strings.Unbounded;
   use Response_Texts;
   use Appserver;
   use AUnit.Assertions;
   use Test_Clients;

   -------------
   -- Reports --
   -------------

   protected Reports is
      procedure Clear;
      procedure Add (Text : String);
      function Count return Natural;
      function Last return String;
   private
      Reported  : Natural := 0;
      Last_Text : Unbounded_String;
   end Reports;

   protected body Reports is

      procedure Clear is
      begin
         Reported  := 0;
         Last_Text := Null_Unbounded_String;
      end Clear;

      procedure Add (Text : String) is
      begin
         Reported  := Reported + 1;
         Last_Text := To_Unbounded_String (Text);
      end Add;

      function Count return Natural is (Reported);
      function Last return String is (To_String (Last_Text));

   end Reports;

   procedure Report (Error : Ada.Exceptions.Exception_Occurrence; Request_Line : String) is
   begin
      Reports.Add
        (Request_Line & '|' & Ada.Exceptions.Exception_Name (Error) & '|'
         & Ada.Exceptions.Exception_Message (Error));
      raise Program_Error with "what a report raises goes no further";
   end Report;

   type Fixture is new AUnit.Test_Fixtures.Test_Fixture with null record;

   overriding procedure Tear_Down (T : in out Fixture);

   overriding procedure Tear_Down (T : in out Fixture) is
      pragma Unreferenced (T);
   begin
      Failing_Threads.Allow_All_Threads;
      Failing_Calls.Allow_All_Memory;
      Failing_Calls.Fail_Events (0);
   end Tear_Down;

   Closing_Soon : constant HTTP.Time_Limits := (Closing => 0.1, others => <>);

   procedure Start
     (Web         : in out HTTP.Server.Web_Server;
      Workers     : Positive := 2;
      Loops       : Positive := 1;
      Connections : Positive := 100) is
   begin
      Web.Start
        (Test_Service.Respond'Access,
         Options =>
           (Workers     => Workers,
            Loops       => Loops,
            Connections => Connections,
            Times       => Closing_Soon,
            Report      => Report'Access,
            others      => <>));
   end Start;

   procedure Check_Response (From : in out Client) is
   begin
      From.Ask ("/fixed");
      Assert (Status (From.Response), "200", "an answer");
   end Check_Response;

   procedure Handlers_Are_Reported (T : in out Fixture) is
      pragma Unreferenced (T);

      Web  : HTTP.Server.Web_Server;
      From : Client;
   begin
      Reports.Clear;
      Start (Web);
      From.Connect (Natural (Web.Port));
      From.Ask ("/raise?a=%41&b");
      Assert (Status (From.Response), "500", "an exception");
      Assert (Reports.Last, "GET /raise?a=%41&b HTTP/1.1|CONSTRAINT_ERROR|asked for", "reported");
      From.Ask ("/%72aise", "HEAD");
      Assert (Status (From.Response (Has_Content => False)), "500", "an exception");
      Assert (Reports.Last, "HEAD /raise HTTP/1.1|CONSTRAINT_ERROR|asked for", "reported");
      Check_Response (From);
      Assert (Reports.Count = 2, "and nothing else");
   end Handlers_Are_Reported;

   --  Some threads have been created when creating the next one fails

   procedure Few_Threads (T : in out Fixture) is
      pragma Unreferenced (T);

      Before : constant Natural := Open_Files;
   begin
      for Loops in 1 .. 3 loop
         for Threads in 0 .. 5 loop
            declare
               Web : HTTP.Server.Web_Server;
            begin
               Failing_Threads.Allow_Threads (Threads);
               begin
                  Start (Web, Workers => 6, Loops => Loops);
                  Assert (False, "started with" & Threads'Image);
               exception
                  when Storage_Error | Tasking_Error =>
                     Assert (not Web.Is_Running, "it runs");
               end;
               Failing_Threads.Allow_All_Threads;
            end;
         end loop;
      end loop;
      Assert (Open_Files = Before, "files that are open");
      declare
         Web  : HTTP.Server.Web_Server;
         From : Client;
      begin
         Start (Web, Workers => 6);
         From.Connect (Natural (Web.Port));
         Check_Response (From);
      end;
   end Few_Threads;

   --  There is enough memory for the stacks of workers, but not for their contexts

   procedure Little_Memory (T : in out Fixture) is
      pragma Unreferenced (T);

      Before : constant Natural := Open_Files;
      Web    : HTTP.Server.Web_Server;

      procedure Start (Response_Content : Positive) is
      begin
         Web.Start
           (Test_Service.Respond'Access,
            Options => (Workers => 3, Response_Content => Response_Content, others => <>));
      end Start;
   begin
      Failing_Calls.Allow_Memory (300_000_000);
      begin
         Start (Response_Content => 100_000_000);
         Assert (False, "started without memory");
      exception
         when Storage_Error =>
            Assert (not Web.Is_Running, "it runs");
      end;
      Failing_Calls.Allow_All_Memory;
      Assert (Open_Files = Before, "files that are open");
      Start (Response_Content => 100_000);
      declare
         From : Client;
      begin
         From.Connect (Natural (Web.Port));
         Check_Response (From);
      end;
   end Little_Memory;

   --  The system has no room for epoll entries: when a server that was full starts to listen again,
   --  and during its work

   procedure No_Room_For_Events (T : in out Fixture) is
      pragma Unreferenced (T);

      Web     : HTTP.Server.Web_Server;
      From    : array (1 .. 4) of Client;
      Removed : Natural;

      function All_Wait return Boolean is (Test_Service.Gate.Waiting = 3);
      function Has_Paused return Boolean is (Failing_Calls.Removed_Events > Removed);
      function Have_Failed return Boolean is (Failing_Calls.Failed_Events = 2);

   begin
      Reports.Clear;
      --  The server closes idle connections to make room, but no connection whose handler runs
      Test_Service.Gate.Shut;
      Start (Web, Workers => 4, Connections => 3);
      for Each of From (1 .. 3) loop
         Each.Connect (Natural (Web.Port));
         Each.Ask ("/wait");
      end loop;
      Await (All_Wait'Access, "the handlers run");
      Removed := Failing_Calls.Removed_Events;
      From (4).Connect (Natural (Web.Port));
      From (4).Ask ("/fixed");
      Await (Has_Paused'Access, "the server stops listening");
      Failing_Calls.Fail_Events (2);
      Await (Have_Failed'Access, "calls fail");
      Test_Service.Gate.Open;
      for Each of From (1 .. 3) loop
         Assert (Status (Each.Response), "200", "an answer");
      end loop;
      From (1).Close;
      Assert (Status (From (4).Response), "200", "listens again");
      --  The system runs out of room at any call
      for Each of From loop
         Each.Close;
      end loop;
      for Round in 1 .. 6 loop
         Failing_Calls.Fail_Events (1);
         begin
            From (1).Connect (Natural (Web.Port), Receive_Buffer => 4_096);
            From (1).Ask ("/long");
            Assert (From (1).Response'Length /= 1, "an answer, or none");
         exception
            when GNAT.Sockets.Socket_Error => null;
         end;
         From (1).Close;
      end loop;
      Failing_Calls.Fail_Events (0);
      for Each of From (1 .. 3) loop
         Each.Connect (Natural (Web.Port));
         Check_Response (Each);
      end loop;
      Web.Stop;
   exception
      when others =>
         --  Otherwise the finalization of Web would wait for the handlers
         Test_Service.Gate.Open;
         raise;
   end No_Room_For_Events;

   --  A stop whose timeout expires can be repeated

   procedure Stop_Times_Out (T : in out Fixture) is
      Web  : HTTP.Server.Web_Server;
      From : Client;

      procedure Stop_In_Vain is
      begin
         Web.Stop (Timeout => 0.1);
         Assert (False, "no exception");
      exception
         when HTTP.Server.Stop_Timeout => null;
      end Stop_In_Vain;

      pragma Unreferenced (T);
   begin
      Test_Service.Gate.Shut;
      Web.Start (Test_Service.Respond'Access);
      From.Connect (Natural (Web.Port));
      From.Ask ("/wait");
      while Test_Service.Gate.Waiting = 0 loop
         delay 0.001;
      end loop;
      for Attempt in 1 .. 2 loop
         Stop_In_Vain;
         Assert (Web.Is_Running, "it is still running");
      end loop;
      Test_Service.Gate.Open;
      Web.Stop;
      Assert (not Web.Is_Running, "it has stopped");
      Assert (Status (From.Response), "200", "the request that it waited for");
      Web.Start (Test_Service.Respond'Access);
      Web.Stop (Timeout => 1_000.0);
   exception
      when others =>
         --  Otherwise the finalization of Web would wait for the handler
         Test_Service.Gate.Open;
         raise;
   end Stop_Times_Out;

   package Caller is new AUnit.Test_Caller (Fixture);

   function Suite return AUnit.Test_Suites.Access_Test_Suite is
      Result : constant AUnit.Test_Suites.Access_Test_Suite := AUnit.Test_Suites.New_Suite;

      procedure Add (Name : String; Test : Caller.Test_Method) is
      begin
         Result.Add_Test (Caller.Create ("server: " & Name, Test));
      end Add;
   begin
      Add ("exceptions are reported", Handlers_Are_Reported'Access);
      Add ("too few threads", Few_Threads'Access);
      Add ("too little memory", Little_Memory'Access);
      Add ("no room for events", No_Room_For_Events'Access);
      Add ("a stop with a handler that does not return", Stop_Times_Out'Access);
      return Result;
   end Suite;

end Lacking_Tests;
