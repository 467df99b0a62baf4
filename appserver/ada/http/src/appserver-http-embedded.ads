--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  A server for embedded devices. The calling task serves all connections. The server allocates no
--  heap memory, and its limits are known at compile time: an instance contains a few hundred bytes
--  for each connection, the bytes of one request and one response, and a buffer for data of slow
--  clients.
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
   --  The handler. All other clients wait while the handler runs, so it must not block.

   Service : Services.Service_Reference := null;
   --  A service, which the server calls instead of Handle; null to call Handle

   Connections : Positive := 64;
   --  The maximum number of connections. If more clients wait to be accepted, the server closes
   --  idle connections first, and then slow connections.

   Request_Header : Positive := 8_192;
   --  The maximum length of a request header in bytes

   Request_Content : Natural := 16_384;
   --  The maximum length of a request's content in bytes

   Response_Content : Positive := 16_384;
   --  The capacity of the response builder in bytes. Files and sources have no limit.

   Waiting_Memory : Positive := 65_536;
   --  The memory in bytes for partially received requests, and for responses that clients have not
   --  read yet. When this memory is used up, the server responds with 503 to the slow client that
   --  has used the most memory for the longest time, or closes its connection if the client does
   --  not read.

   Report : Exception_Report := Report_On_Standard_Error'Access;
   --  The procedure that receives the exceptions of handlers; may be null

   Log : Access_Logs.Log_Reference := null;
   --  The access log, which the server writes to its file before it waits for events; null for no
   --  log
package Appserver.HTTP.Embedded is

   pragma Assertion_Policy (Pre => Check, Pre'Class => Check);

   procedure Open
     (Address : String      := "127.0.0.1";
      Port    : Port_Number := 0;
      Times   : Time_Limits := (others => <>))
     with Pre => not Is_Open or else raise Misuse_Error with "the server is open", Post => Is_Open;
   --  Starts listening. From this call on, the program ignores SIGPIPE.
   --  @param Address an IPv4 or IPv6 address to listen on
   --  @param Port a port; 0 lets the system choose one
   --  @param Times the time limits of connections
   --  @exception Network_Error the server cannot listen

   function Is_Open return Boolean;
   --  @return True between Open and Close

   function Port return Port_Number
     with Pre => Is_Open or else raise Misuse_Error with "the server is closed";
   --  @return the port on which the server listens

   procedure Serve
     with Pre => Is_Open or else raise Misuse_Error with "the server is closed";
   --  Serves clients until Ask_To_Stop is called.

   procedure Serve_Until_Input (File : Descriptor)
     with Pre => Is_Open or else raise Misuse_Error with "the server is closed";
   --  Serves clients until a file has input, or is at its end. Returns immediately if the file
   --  already has input.
   --  @param File a pipe, a socket or a terminal. All calls while the server is open must pass the
   --  same file.

   procedure Ask_To_Stop;
   --  Makes Serve return. A handler, another task or a signal handler may call this procedure.

   procedure Close
     with Pre => Is_Open
                 or else raise Misuse_Error with "the server is closed",
          Post => not Is_Open;
   --  Stops accepting connections, responds to pending requests, and closes all connections.
   --  Clients can delay the end of their connections by at most 4 seconds.

private

   Limits : constant Parsing.Limits :=
     (Request_Line => Positive'Min (Request_Header, 8_192),
      Header       => Request_Header,
      Content      => Request_Content);

   Listener : Descriptor := No_File;

   function Is_Open return Boolean is (Listener /= No_File);

end Appserver.HTTP.Embedded;
