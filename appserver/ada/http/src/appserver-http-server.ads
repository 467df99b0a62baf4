--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  A server in which a fixed number of tasks run the handlers. Idle connections do not occupy a
--  task.
--
--  By default, there is one event loop for each core. Each connection belongs to a loop, and one
--  task at a time serves a loop. This task waits for events, reads requests, calls handlers and
--  sends responses, so a request costs as little as in a single-threaded program. When a handler
--  blocks, another task continues the loop. If a loop has pending events but no task, an idle task
--  takes over the loop.
--
--     Server : HTTP.Server.Web_Server;
--     …
--     Server.Start (Hello'Access, Port => 8080);
--     …
--     Server.Stop (Timeout => 10.0);

pragma Ada_2022;

with Appserver.HTTP.Access_Logs;
with Appserver.HTTP.Listeners;
with Appserver.HTTP.Parsing;
with Appserver.HTTP.Services;

private with Ada.Finalization;

package Appserver.HTTP.Server is

   pragma Assertion_Policy (Pre => Check, Pre'Class => Check);

   type Settings is record
      Workers          : Positive := 8;
      --  The number of tasks that run handlers
      Loops            : Natural  := 0;
      --  The number of event loops, at most Workers. 0 means one loop for each core that the caller
      --  of Start may use, but at most Workers / 2 loops, so that idle tasks can replace tasks that
      --  a handler blocks.
      Connections      : Positive := 10_000;
      --  The maximum number of connections. If more clients wait to be accepted, the server closes
      --  idle connections first, and then slow connections. The server raises the limit on open
      --  files to this number if it is permitted to.
      Limits           : Parsing.Limits;
      --  Limits on the size of requests
      Response_Content : Positive := 65_536;
      --  The capacity of response builders in bytes. Files and sources have no limit.
      Waiting_Memory   : Positive := 2 ** 24;
      --  The memory in bytes for partially received requests, and for responses that clients have
      --  not read yet. When this memory is used up, the server responds with 503 to the slow client
      --  that has used the most memory for the longest time, or closes its connection if the client
      --  does not read. Memory that was never used is not resident.
      Handler_Stack    : Positive := 262_144;
      --  The stack size of each task in bytes. If the stack overflows in a handler, the response is
      --  500, provided that the handler was compiled with -fstack-check, as this library is, or
      --  that none of its stack frames is larger than 1 MiB.
      Times            : Time_Limits;
      Report           : Exception_Report := Report_On_Standard_Error'Access;
      --  The procedure that receives the exceptions of handlers; may be null
      Log              : Access_Logs.Log_Reference := null;
      --  The access log, which a separate task writes to its file. If null, there is no log, and no
      --  task is created for it.
   end record;

   Stop_Timeout : exception;

   Forever : constant Duration := Duration'Last;

   type Web_Server is tagged limited private;
   --  A server, which is initially stopped. At the end of its scope, a running server is stopped
   --  without a timeout, since its tasks use this object.

   procedure Start
     (Self    : in out Web_Server;
      Handle  : Handler;
      Address : String := "127.0.0.1";
      Port    : Port_Number := 0;
      Options : Settings := (others => <>))
     with Pre  => (not Self.Is_Running and then Options.Loops <= Options.Workers)
                  or else raise Misuse_Error with
                    "the server is running, or has more loops than workers",
          Post => Self.Is_Running;
   --  Starts the server with a handler function. From this call on, the program ignores SIGPIPE.
   --  @param Self the server
   --  @param Handle the handler
   --  @param Address an IPv4 or IPv6 address to listen on
   --  @param Port a port; 0 lets the system choose one
   --  @param Options the settings
   --  @exception Network_Error the server cannot listen
   --  @exception Storage_Error there is not enough memory
   --  @exception Tasking_Error a task cannot be created

   procedure Start
     (Self    : in out Web_Server;
      Service : not null Services.Service_Reference;
      Address : String := "127.0.0.1";
      Port    : Port_Number := 0;
      Options : Settings := (others => <>))
     with Pre  => (not Self.Is_Running and then Options.Loops <= Options.Workers)
                  or else raise Misuse_Error with
                    "the server is running, or has more loops than workers",
          Post => Self.Is_Running;
   --  Starts the server with a service. From this call on, the program ignores SIGPIPE.
   --  @param Self the server
   --  @param Service the service, which must outlive the server
   --  @param Address an IPv4 or IPv6 address to listen on
   --  @param Port a port; 0 lets the system choose one
   --  @param Options the settings
   --  @exception Network_Error the server cannot listen
   --  @exception Storage_Error there is not enough memory
   --  @exception Tasking_Error a task cannot be created

   procedure Start
     (Self      : in out Web_Server;
      Handle    : Handler;
      Listeners : HTTP.Listeners.Listener_List;
      Options   : Settings := (others => <>))
     with Pre  => (not Self.Is_Running
                     and then Options.Loops <= Options.Workers
                     and then Listeners'Length in 1 .. HTTP.Listeners.Max_Listeners)
                  or else raise Misuse_Error with
                    "the server is running, has more loops than workers, or has no listener or "
                    & "too many",
          Post => Self.Is_Running;
   --  Starts the server with a handler function and any kinds of listeners. From this call on, the
   --  program ignores SIGPIPE.
   --  @param Self the server
   --  @param Handle the handler
   --  @param Listeners the listeners
   --  @param Options the settings
   --  @exception Network_Error the server cannot listen on one of the listeners
   --  @exception Storage_Error there is not enough memory
   --  @exception Tasking_Error a task cannot be created

   procedure Start
     (Self      : in out Web_Server;
      Service   : not null Services.Service_Reference;
      Listeners : HTTP.Listeners.Listener_List;
      Options   : Settings := (others => <>))
     with Pre  => (not Self.Is_Running
                     and then Options.Loops <= Options.Workers
                     and then Listeners'Length in 1 .. HTTP.Listeners.Max_Listeners)
                  or else raise Misuse_Error with
                    "the server is running, has more loops than workers, or has no listener or "
                    & "too many",
          Post => Self.Is_Running;
   --  Starts the server with a service and any kinds of listeners. From this call on, the program
   --  ignores SIGPIPE.
   --  @param Self the server
   --  @param Service the service, which must outlive the server
   --  @param Listeners the listeners
   --  @param Options the settings
   --  @exception Network_Error the server cannot listen on one of the listeners
   --  @exception Storage_Error there is not enough memory
   --  @exception Tasking_Error a task cannot be created

   procedure Stop (Self : in out Web_Server; Timeout : Duration := Forever)
     with Post => not Self.Is_Running;
   --  Stops accepting connections, responds to pending requests, and closes all connections.
   --  Clients can delay the end of their connections by at most 4 seconds. Stop also waits for
   --  running handlers.
   --  @param Self the server
   --  @param Timeout the maximum time in seconds
   --  @exception Stop_Timeout handlers are still running, or clients are still being served. The
   --  server no longer accepts connections, and continues to stop: call Stop again, or end the
   --  program with GNAT.OS_Lib.OS_Exit.

   function Is_Running (Self : Web_Server) return Boolean;
   --  @param Self the server
   --  @return True between Start and Stop

   function Listener_Count (Self : Web_Server) return Positive
     with Pre => Self.Is_Running or else raise Misuse_Error with "the server is not running";
   --  @param Self the server
   --  @return the number of listeners

   function Port (Self : Web_Server; Listener : Positive := 1) return Port_Number
     with Pre => (Self.Is_Running and then Listener <= Self.Listener_Count)
                 or else raise Misuse_Error with
                   "the server is not running, or there is no such listener";
   --  @param Self the server
   --  @param Listener the number of a listener, from 1
   --  @return the port on which the server listens; 0 for a Unix socket

   function Loops (Self : Web_Server) return Positive
     with Pre => Self.Is_Running or else raise Misuse_Error with "the server is not running";
   --  @param Self the server
   --  @return the number of loops

private

   type Engine;
   type Engine_Reference is access Engine;

   type Web_Server is new Ada.Finalization.Limited_Controlled with record
      Engine : Engine_Reference := null;
   end record;

   overriding procedure Finalize (Self : in out Web_Server);

   function Is_Running (Self : Web_Server) return Boolean is (Self.Engine /= null);

end Appserver.HTTP.Server;
