--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  tls_server DIRECTORY [NAME=VALUE…]: a server with TLS for test_tls.py in tests/http. DIRECTORY
--  contains the certificates and keys first.pem, first.key, second.pem and second.key, clients.pem
--  for client certificates, and the served files.
--
--  clients=POLICY sets the policy for client certificates, version=VERSION the first version of
--  TLS, lifetime=SECONDS the lifetime of tickets, header=SECONDS, idle=SECONDS and sending=SECONDS
--  time limits, and connections=COUNT the maximum number of connections.
--
--  The program prints the ports of a listener with TLS and of one without. It reads commands until
--  the end of its input: "reload" prints "reloaded", or the reason for a failure, and "counts" the
--  numbers of handshakes.

with Ada.Command_Line;
with Ada.Exceptions;
with Ada.Text_IO;
with Appserver.HTTP.Listeners;
with Appserver.HTTP.Server;
with Appserver.HTTP.TLS;
with Connection_Service;

procedure TLS_Server is

   use Ada.Text_IO;
   use Appserver;
   use type HTTP.TLS.Client_Policy;

   Folder : constant String := Ada.Command_Line.Argument (1) & "/";

   --  Returns the value of an argument NAME=VALUE

   function Setting (Name, Default : String) return String is
   begin
      for K in 2 .. Ada.Command_Line.Argument_Count loop
         declare
            Text : constant String := Ada.Command_Line.Argument (K);
         begin
            if Text'Length > Name'Length and then Text (1 .. Name'Length + 1) = Name & '=' then
               return Text (Name'Length + 2 .. Text'Last);
            end if;
         end;
      end loop;
      return Default;
   end Setting;

   function Time (Name : String; Default : Duration) return Duration is
     (Duration'Value (Setting (Name, Default'Image)));

   Policy : constant HTTP.TLS.Client_Policy :=
     HTTP.TLS.Client_Policy'Value (Setting ("clients", "ignored"));

   Secure : aliased HTTP.TLS.TLS_Transport;
   Web    : HTTP.Server.Web_Server;

   procedure Reload is
   begin
      Secure.Reload;
      Put_Line ("reloaded");
   exception
      when Error : HTTP.TLS.Configuration_Error =>
         Put_Line (Ada.Exceptions.Exception_Message (Error));
   end Reload;

   procedure Show_Counts is
      Counts : constant HTTP.TLS.Handshake_Counts := Secure.Handshakes;
   begin
      Put_Line (Counts.Full'Image & Counts.Resumed'Image & Counts.Failed'Image);
   end Show_Counts;

   procedure Run (Command : String) is
   begin
      if Command = "reload" then
         Reload;
      elsif Command = "counts" then
         Show_Counts;
      end if;
      Flush;
   end Run;

begin
   Connection_Service.Open_Folder (Folder);
   Secure.Load
     ([HTTP.TLS.Certificate (Folder & "first.pem", Folder & "first.key"),
       HTTP.TLS.Certificate (Folder & "second.pem", Folder & "second.key")],
      Client_Certificates => Policy,
      Client_Authorities  =>
        (if Policy = HTTP.TLS.Ignored then "" else Folder & "clients.pem"),
      Options             =>
        (Min_Version     => HTTP.TLS.Protocol_Version'Value (Setting ("version", "TLS_1_2")),
         Ticket_Lifetime => Positive'Value (Setting ("lifetime", "7200")),
         others          => <>));
   Web.Start
     (Connection_Service.Shared'Access,
      Listeners =>
        [HTTP.Listeners.TCP_Listener (Transport => Secure'Unchecked_Access),
         HTTP.Listeners.TCP_Listener],
      Options   =>
        (Workers     => 4,
         Connections => Positive'Value (Setting ("connections", "1000")),
         Times       =>
           (Idle    => Time ("idle", 75.0),
            Header  => Time ("header", 20.0),
            Sending => Time ("sending", 30.0),
            others  => <>),
         others      => <>));
   Put_Line (Web.Port (1)'Image);
   Put_Line (Web.Port (2)'Image);
   Flush;
   while not End_Of_File loop
      Run (Get_Line);
   end loop;
   Web.Stop;
exception
   when Error : HTTP.TLS.Configuration_Error =>
      Put_Line (Ada.Exceptions.Exception_Message (Error));
      Ada.Command_Line.Set_Exit_Status (Ada.Command_Line.Failure);
end TLS_Server;
