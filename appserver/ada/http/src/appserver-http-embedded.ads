--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  A server for devices: one task, the one that calls it, which serves all connections in turns. It
--  takes no memory from the heap, and its limits are known at compile time: an instance has a few
--  hundred bytes for each connection, the bytes of one request and one response, and the memory for
--  what has to wait for a client.
--
--     package Web is new Appserver.HTTP.Embedded (Handle => Hello'Access);
--     …
--     Web.Open (Port => 8080);
--     Web.Serve;

pragma Ada_2022;

with Appserver.HTTP.Access_Logs;
with Appserver.HTTP.Parsing;
with Appserver.HTTP.Services;

generic
   Handle : Handler := Services.Not_Here'Access;
   --  All other clients wait in the meantime: it has to be quick

   Service : Services.Service_Reference := null;
   --  Called in place of Handle if it is not null

   Connections : Positive := 64;
   --  The maximum at a time. When other clients wait to be accepted, idle connections are closed,
   --  and then slow ones.

   Request_Header   : Positive := 8_192;
   Request_Content  : Natural  := 16_384;
   Response_Content : Positive := 16_384;
   --  Maximum bytes of each. Response_Content limits what handlers write; files have no limit.

   Waiting_Memory : Positive := 65_536;
   --  Bytes for requests that have arrived in part, and for responses that clients have not read
   --  yet. When they do not suffice, the slow client that has held the most memory for the longest
   --  time gets 503, or loses its connection if it does not read.

   Report : Exception_Report := Report_On_Standard_Error'Access;
   --  Null: exceptions are not reported

   Log : Access_Logs.Log_Reference := null;
   --  Written out before the server waits. Null: no log.
package Appserver.HTTP.Embedded is

   pragma Assertion_Policy (Pre => Check, Pre'Class => Check);

   procedure Open
     (Address : String      := "127.0.0.1";
      Port    : Port_Number := 0;
      Times   : Time_Limits := (others => <>))
     with Pre => not Is_Open, Post => Is_Open;
   --  Listens on an IPv4 or IPv6 address; on a port that the system chooses if Port is 0.
   --  Network_Error if it cannot. SIGPIPE is ignored from here on.

   function Is_Open return Boolean;

   function Port return Port_Number
     with Pre => Is_Open;

   procedure Serve
     with Pre => Is_Open;
   --  Returns after Ask_To_Stop

   procedure Serve_Until_Input (File : Descriptor)
     with Pre => Is_Open;
   --  Until File has input, or is at its end: a pipe, a socket, a terminal; always the same one
   --  while this is open. Returns at once while there is input.

   procedure Ask_To_Stop;
   --  May be called by a handler, another task or a signal handler

   procedure Close
     with Pre => Is_Open, Post => not Is_Open;
   --  Accepts no more connections, answers pending requests, and closes the connections. Clients
   --  delay this by 4 seconds at most.

private

   Limits : constant Parsing.Limits :=
     (Request_Line => Positive'Min (Request_Header, 8_192),
      Header       => Request_Header,
      Content      => Request_Content);

   Listener : Descriptor := No_File;

   function Is_Open return Boolean is (Listener /= No_File);

end Appserver.HTTP.Embedded;
