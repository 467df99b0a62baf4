--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

with Appserver.HTTP.Embedded;
with Appserver.HTTP.Server;
with Test_Service;

package body Tested_Servers is

   Connections : constant := 600;
   Memory      : constant := 262_144;

   --------------
   -- Embedded --
   --------------

   package Web is new HTTP.Embedded
     (Handle           => Test_Service.Respond'Access,
      Connections      => Connections,
      Request_Header   => 16_384,
      Request_Content  => 65_536,
      Response_Content => 65_536,
      Waiting_Memory   => Memory,
      Report           => null);

   --  For each Start, one task runs Serve to its end

   task type Serving_Task;

   task body Serving_Task is
   begin
      Web.Serve;
   end Serving_Task;

   type Task_Reference is access Serving_Task;

   Serving : Task_Reference;

   procedure Start_Embedded (Times : HTTP.Time_Limits) is
   begin
      Web.Open (Times => Times);
      Serving := new Serving_Task;
   end Start_Embedded;

   procedure Stop_Embedded is
   begin
      Web.Ask_To_Stop;
      while not Serving'Terminated loop
         delay 0.001;
      end loop;
      Web.Close;
   end Stop_Embedded;

   function Embedded_Port return Natural is (Natural (Web.Port));

   ------------
   -- Server --
   ------------

   Server : HTTP.Server.Web_Server;

   procedure Start (Times : HTTP.Time_Limits; Loops : Positive) is
   begin
      Server.Start
        (Test_Service.Respond'Access,
         Options =>
           (Workers        => Workers,
            Loops          => Loops,
            Connections    => Connections,
            Waiting_Memory => Memory,
            Times          => Times,
            Report         => null,
            others         => <>));
   end Start;

   procedure Start_With_One (Times : HTTP.Time_Limits) is
   begin
      Start (Times, Loops => 1);
   end Start_With_One;

   procedure Start_With_Two (Times : HTTP.Time_Limits) is
   begin
      Start (Times, Loops => 2);
   end Start_With_Two;

   procedure Stop_Server is
   begin
      Server.Stop;
   end Stop_Server;

   function Server_Port return Natural is (Natural (Server.Port));

end Tested_Servers;
