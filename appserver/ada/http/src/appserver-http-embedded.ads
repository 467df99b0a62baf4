--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  A server for devices. One task, the one that calls it, serves all connections in turn. It
--  allocates no heap memory, and its limits are known at compile time: an instance has a few
--  hundred bytes for each connection, the bytes of one request and one response, and memory for
--  data that waits for a client.
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
   --  The handler. All other clients wait while it runs, so it must not block.

   Service : Services.Service_Reference := null;
   --  Called in place of Handle if it is not null

   Connections : Positive := 64;
   --  The maximum number of connections. When other clients wait to be accepted, the server closes
   --  idle connections, and then slow ones.

   Request_Header : Positive := 8_192;
   --  Maximum bytes of the header of a request

   Request_Content : Natural := 16_384;
   --  Maximum bytes of the content of a request

   Response_Content : Positive := 16_384;
   --  The capacity of the response builder in bytes. Files and sources have no limit.

   Waiting_Memory : Positive := 65_536;
   --  Bytes for partly received requests, and for responses that clients have not read yet. When
   --  they are used up, the slow client that has held the most memory for the longest time gets
   --  503, or loses its connection if it does not read.

   Report : Exception_Report := Report_On_Standard_Error'Access;
   --  Called with exceptions; may be null

   Log : Access_Logs.Log_Reference := null;
   --  The access log, which the server writes before it waits; null for no log
package Appserver.HTTP.Embedded is

   pragma Assertion_Policy (Pre => Check, Pre'Class => Check);

   procedure Open
     (Address : String      := "127.0.0.1";
      Port    : Port_Number := 0;
      Times   : Time_Limits := (others => <>))
     with Pre => not Is_Open or else raise Misuse_Error with "the server is open", Post => Is_Open;
   --  Starts to listen. The program ignores SIGPIPE from here on.
   --  @param Address an IPv4 or IPv6 address to listen on
   --  @param Port a port; 0 lets the system choose one
   --  @param Times the time limits of connections
   --  @exception Network_Error the server cannot listen

   function Is_Open return Boolean;
   --  @return True between Open and Close

   function Port return Port_Number
     with Pre => Is_Open or else raise Misuse_Error with "the server is closed";
   --  @return the port that the server listens on

   procedure Serve
     with Pre => Is_Open or else raise Misuse_Error with "the server is closed";
   --  Serves clients until Ask_To_Stop

   procedure Serve_Until_Input (File : Descriptor)
     with Pre => Is_Open or else raise Misuse_Error with "the server is closed";
   --  Serves clients until a file has input, or is at its end. Returns at once while there is
   --  input.
   --  @param File a pipe, a socket or a terminal; the same one for all calls while this is open

   procedure Ask_To_Stop;
   --  Lets Serve return. A handler, another task or a signal handler may call it.

   procedure Close
     with Pre => Is_Open
                 or else raise Misuse_Error with "the server is closed",
          Post => not Is_Open;
   --  Accepts no more connections, answers pending requests, and closes the connections. Clients
   --  delay this by at most 4 seconds.

private

   Limits : constant Parsing.Limits :=
     (Request_Line => Positive'Min (Request_Header, 8_192),
      Header       => Request_Header,
      Content      => Request_Content);

   Listener : Descriptor := No_File;

   function Is_Open return Boolean is (Listener /= No_File);

end Appserver.HTTP.Embedded;
