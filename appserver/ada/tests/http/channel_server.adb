--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  channel_server [NAME=VALUE …]: a server with event streams and WebSocket connections for tests
--  in tests/http, which runs until its input ends. The names are workers, connections, content (the
--  maximum length of content and of messages), waiting (the waiting memory), queue, disconnect (if
--  the queue is full), keep_alive, silence, idle, sending and arriving (times in seconds), log (the
--  path of an access log), tls (the directory of first.pem and first.key), and embedded. It prints
--  its port, and with tls the port of a second listener, which has TLS. At the end it prints the
--  time that stopping took, in milliseconds.

with Ada.Command_Line;
with Ada.Real_Time;
with Ada.Text_IO;
with Appserver.HTTP.Access_Logs;
with Appserver.HTTP.Channels;
with Appserver.HTTP.Embedded;
with Appserver.HTTP.Listeners;
with Appserver.HTTP.Server;
with Appserver.HTTP.TLS;
with Channel_Services;

procedure Channel_Server is

   use Ada.Text_IO;
   use Appserver;

   function Argument (Name, Default : String) return String is
   begin
      for K in 1 .. Ada.Command_Line.Argument_Count loop
         declare
            Text : constant String := Ada.Command_Line.Argument (K);
         begin
            if Text'Length > Name'Length
              and then Text (1 .. Name'Length + 1) = Name & "="
            then
               return Text (Name'Length + 2 .. Text'Last);
            end if;
         end;
      end loop;
      return Default;
   end Argument;

   Log_Path : constant String  := Argument ("log", "");
   Folder   : constant String  := Argument ("tls", "");
   Content  : constant Natural := Natural'Value (Argument ("content", "65536"));

   Times : constant HTTP.Time_Limits :=
     (Sending => Duration'Value (Argument ("sending", "30.0")),
      Content => Duration'Value (Argument ("arriving", "60.0")),
      others  => <>);

   Secure : aliased HTTP.TLS.TLS_Transport;
   Web    : HTTP.Server.Web_Server;

   function Own_Listeners return HTTP.Listeners.Listener_List is
     (if Folder = "" then [HTTP.Listeners.TCP_Listener]
      else
        [HTTP.Listeners.TCP_Listener,
         HTTP.Listeners.TCP_Listener (Transport => Secure'Unchecked_Access)]);

   package Device is new HTTP.Embedded (Service => Channel_Services.Filtered, Report => null);

   procedure Run_Server is
      use type Ada.Real_Time.Time;
      Began : Ada.Real_Time.Time;
   begin
      if Log_Path /= "" then
         Channel_Services.Log.Open (Log_Path, HTTP.Access_Logs.JSON);
      end if;
      if Folder /= "" then
         Secure.Load
           ([HTTP.TLS.Certificate (Folder & "/first.pem", Folder & "/first.key")]);
      end if;
      Web.Start
        (Channel_Services.Filtered,
         Listeners => Own_Listeners,
         Options   =>
           (Workers     => Positive'Value (Argument ("workers", "4")),
            Connections => Positive'Value (Argument ("connections", "10000")),
            Limits      => (Content => Content, others => <>),
            Times       => Times,
            Waiting_Memory => Positive'Value (Argument ("waiting", "16777216")),
            Report      => null,
            Log         => Channel_Services.Log'Access,
            others      => <>));
      Put_Line (Web.Port (1)'Image);
      if Folder /= "" then
         Put_Line (Web.Port (2)'Image);
      end if;
      Flush;
      while not End_Of_File loop
         Skip_Line;
      end loop;
      Began := Ada.Real_Time.Clock;
      Web.Stop;
      Put_Line (Natural'Image (Natural
        (1_000 * Ada.Real_Time.To_Duration (Ada.Real_Time.Clock - Began))));
      Channel_Services.Log.Close;
   end Run_Server;

begin
   Channel_Services.Options :=
     (Queue      => Positive'Value (Argument ("queue", "131072")),
      When_Full  => (if Argument ("disconnect", "no") = "yes" then HTTP.Channels.Disconnect
                     else HTTP.Channels.Report),
      Message    => Content,
      Keep_Alive => Duration'Value (Argument ("keep_alive", "25.0")),
      Silence    => Duration'Value (Argument ("silence", "20.0")),
      Idle       => Duration'Value (Argument ("idle", "0.0")));
   if Argument ("embedded", "no") = "yes" then
      Device.Open;
      Put_Line (Device.Port'Image);
      Flush;
      Device.Serve_Until_Input (0);
      Device.Close;
   else
      Run_Server;
   end if;
end Channel_Server;
