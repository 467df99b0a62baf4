--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

with Appserver.HTTP.Contexts;
with Appserver.HTTP.Linux;
with Appserver.HTTP.Loops;
with Appserver.HTTP.Parsing;
with Appserver.HTTP.Transports;
with Appserver.IP_Addresses;
with AUnit.Assertions;
with AUnit.Test_Caller;
with AUnit.Test_Fixtures;
with Test_Clients;

package body Appserver.HTTP.Loop_Tests is

   use AUnit.Assertions;

   type Fixture is new AUnit.Test_Fixtures.Test_Fixture with null record;

   Large : aliased constant String := [1 .. 8_000_000 => 'x'];

   function Respond (Request : HTTP.Request) return Response is
     (if Request.Path_Is ("/large") then Static_Response (Plain_Text'Access, Large'Access)
      elsif Request.Method = Get then Status_Only (No_Content)
      else Status_Only (Not_Found));

   type Builder_Reference is access Response_Builder;
   type Context_Reference is access Contexts.Context;

   function New_Context (Owner : Natural) return Context_Reference is
     (new Contexts.Context
        (Request_Capacity => 1_000 + Parsing.Slack,
         Output_Capacity  => 1_000 + Contexts.Max_Header_Length,
         Builder          => Builder_Reference'(new Response_Builder (1_000)),
         Owner            => Owner));

   --  A loop that another task serves for one turn while a connection is assigned

   type Shared_Loop is new Loops.Event_Loop with record
      Server : Natural := 1;
      Other  : Context_Reference := New_Context (Owner => 2);
      Ends   : Natural := 0;
      --  The number of calls to stop listening
      Placed : Natural := 0;
      --  The number of connections assigned since then
      Fails  : Boolean := False;
      --  True to fail when a connection is assigned
   end record;

   overriding procedure Wait_Anywhere
     (Self : in out Shared_Loop; Context : Contexts.Context; Milliseconds : in out Integer);
   overriding function Is_Served (Self : Shared_Loop; Context : Contexts.Context) return Boolean is
     (Context.Owner = Self.Server);
   overriding procedure Stop_Listening (Self : in out Shared_Loop; Is_Last : out Boolean);
   overriding procedure Place
     (Self      : in out Shared_Loop;
      Context   : Contexts.Context;
      Socket    : Descriptor;
      Client    : IP_Addresses.Address;
      Transport : Transports.Transport_Reference);

   --  Waits longer than the 20 ms for which a stopping server waits for connecting clients

   overriding procedure Wait_Anywhere
     (Self : in out Shared_Loop; Context : Contexts.Context; Milliseconds : in out Integer) is
   begin
      Self.Server := 1;
      delay 0.03;
      Milliseconds := Integer'Min (Milliseconds, 10);
   end Wait_Anywhere;

   overriding procedure Stop_Listening (Self : in out Shared_Loop; Is_Last : out Boolean) is
   begin
      Loops.Event_Loop (Self).Stop_Listening (Is_Last);
      Self.Ends := Self.Ends + 1;
   end Stop_Listening;

   overriding procedure Place
     (Self      : in out Shared_Loop;
      Context   : Contexts.Context;
      Socket    : Descriptor;
      Client    : IP_Addresses.Address;
      Transport : Transports.Transport_Reference) is
   begin
      Self.Placed := Self.Placed + (if Self.Ends > 0 then 1 else 0);
      if Self.Fails then
         Linux.Close (Socket);
         raise Program_Error;
      end if;
      Self.Adopt (Socket, Client, Transport);
      Self.Server := Self.Other.Owner;
      Loops.Serve (Self, Self.Other.all);
      Self.Server := Context.Owner;
   end Place;

   --  Stops a loop to which a client has just connected

   procedure Stop (Web : in out Shared_Loop; Listener : Descriptor) is
      Context : constant Context_Reference := New_Context (Owner => 1);
      Client  : Test_Clients.Client;
   begin
      Client.Connect (Natural (Linux.Port_Of (Listener)));
      Web.Open
        ([(Socket => Listener, others => <>)], Is_Shared => False, Handle => Respond'Access,
         Service => null,
         Limits => (others => <>), Times => (Closing => 0.1, others => <>), Report => null,
         Log => null, Writes => False);
      Web.Ask_To_Stop;
      Loops.Serve (Web, Context.all);
      Web.Close;
      Assert (Web.Placed = 1, "the end of listening placed" & Web.Placed'Image & " connections");
      Assert (Web.Ends = 1, "it ended to listen" & Web.Ends'Image & " times");
   end Stop;

   procedure Ends_Once (T : in out Fixture) is
      pragma Unreferenced (T);

      Web : Shared_Loop (Slots => 10, Waiting => 10);
   begin
      Stop (Web, Linux.Listening_Socket ("127.0.0.1", 0, Backlog => 10));
   end Ends_Once;

   procedure Closes_After_Error (T : in out Fixture) is
      pragma Unreferenced (T);

      Listener : constant Descriptor := Linux.Listening_Socket ("127.0.0.1", 0, Backlog => 10);
      Port     : constant Port_Number := Linux.Port_Of (Listener);
      Web      : Shared_Loop (Slots => 10, Waiting => 10);
   begin
      Web.Fails := True;
      Stop (Web, Listener);
      --  Raises Network_Error if a server still listens on the port
      Linux.Close (Linux.Listening_Socket ("127.0.0.1", Port, Backlog => 10));
   end Closes_After_Error;

   --  A client starts another request after a response that it does not read, and there is no room
   --  for it: the request is rejected after the response has been sent, not in the middle of it

   procedure Refuses_Behind_A_Response (T : in out Fixture) is
      pragma Unreferenced (T);

      Listener : constant Descriptor := Linux.Listening_Socket ("127.0.0.1", 0, Backlog => 10);
      Web      : Loops.Event_Loop (Slots => 10, Waiting => 1);
      Context  : constant Context_Reference := New_Context (Owner => 0);
      Client   : Test_Clients.Client;

      task Server is
         entry Start;
      end Server;

      task body Server is
      begin
         accept Start;
         Loops.Serve (Web, Context.all);
      end Server;
   begin
      Web.Open
        ([(Socket => Listener, others => <>)], Is_Shared => False, Handle => Respond'Access,
         Service => null,
         Limits => (Request_Line => 500, Header => 900, Content => 100),
         Times => (Closing => 0.1, others => <>), Report => null, Log => null, Writes => False);
      Server.Start;
      Client.Connect (Natural (Linux.Port_Of (Listener)), Receive_Buffer => 4_096);
      Client.Send
        ("GET /large HTTP/1.1" & Test_Clients.New_Line & "Host: h" & Test_Clients.New_Line
         & Test_Clients.New_Line & "GET / HTTP/1.1" & Test_Clients.New_Line & "X: "
         & [1 .. 500 => 'x']);
      delay 0.1;
      declare
         First  : constant String := Client.Response;
         Second : constant String := Client.Rest;
      begin
         Assert (First'Length > Large'Length, "the answer is whole");
         Assert (Second (Second'First .. Second'First + 11) = "HTTP/1.1 503", Second);
      exception
         when others =>
            Web.Ask_To_Stop;
            raise;
      end;
      Web.Ask_To_Stop;
      while not Server'Terminated loop
         delay 0.001;
      end loop;
      Web.Close;
   end Refuses_Behind_A_Response;

   package Caller is new AUnit.Test_Caller (Fixture);

   function Suite return AUnit.Test_Suites.Access_Test_Suite is
      Result : constant AUnit.Test_Suites.Access_Test_Suite := AUnit.Test_Suites.New_Suite;
   begin
      Result.Add_Test
        (Caller.Create ("loops: listening ends once for two tasks", Ends_Once'Access));
      Result.Add_Test
        (Caller.Create
           ("loops: an error at the end of listening frees the port", Closes_After_Error'Access));
      Result.Add_Test
        (Caller.Create
           ("loops: nobody makes room behind an answer", Refuses_Behind_A_Response'Access));
      return Result;
   end Suite;

end Appserver.HTTP.Loop_Tests;
