--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  A server for services: a fixed number of tasks run handlers, and any number of connections wait
--  without one.
--
--  There is a loop for each core, which holds connections and is served by one task at a time: that
--  waits for what happens on them, reads, calls the handler, and sends. So a request costs as
--  little as in a single-threaded program. When handlers wait for something, other tasks go on with
--  their loop: one task watches, and takes over from one that is in a handler for long. A task that
--  has nothing to do in its loop takes over a loop that has work and no task.
--
--     Server : HTTP.Server.Web_Server;
--     …
--     Server.Start (Hello'Access, Port => 8080);
--     …
--     Server.Stop;

pragma Ada_2022;

with Appserver.HTTP.Access_Logs;
with Appserver.HTTP.Parsing;
with Appserver.HTTP.Services;

private with Ada.Finalization;

package Appserver.HTTP.Server is

   pragma Assertion_Policy (Pre => Check, Pre'Class => Check);

   type Settings is record
      Workers          : Positive := 8;
      --  Tasks, which run handlers
      Loops            : Natural  := 0;
      --  At most Workers. 0 stands for the number of cores that the caller of Start may use, but at
      --  most half the number of tasks, so that tasks are left to replace those that wait.
      Connections      : Positive := 10_000;
      --  The maximum at a time. When other clients wait to be accepted, idle connections are
      --  closed, and then slow ones. The limit on open files is raised to this number, where that
      --  is permitted.
      Limits           : Parsing.Limits;
      Response_Content : Positive := 65_536;
      --  At most, in bytes, of what handlers write; files have no limit
      Waiting_Memory   : Positive := 2 ** 24;
      --  Bytes for requests that have arrived in part, and for responses that clients have not read
      --  yet. When they do not suffice, the slow client that has held the most memory for the
      --  longest time gets 503, or loses its connection if it does not read. Memory that was never
      --  needed is not resident.
      Handler_Stack    : Positive := 262_144;
      --  Bytes, of each task. A handler that needs more is answered with 500 if it was compiled
      --  with -fstack-check, as this library is, or if none of its frames has more than a MiB.
      Times            : Time_Limits;
      Report           : Exception_Report := Report_On_Standard_Error'Access;
      --  Null: exceptions are not reported
      Log              : Access_Logs.Log_Reference := null;
      --  Written by a task of its own. Null: no log and no task.
   end record;

   type Web_Server is tagged limited private;
   --  Initially stopped. It stops when it leaves its scope.

   procedure Start
     (Self    : in out Web_Server;
      Handle  : Handler;
      Address : String := "127.0.0.1";
      Port    : Port_Number := 0;
      Options : Settings := (others => <>))
     with Pre  => not Self.Is_Running and then Options.Loops <= Options.Workers,
          Post => Self.Is_Running;
   --  Listens on an IPv4 or IPv6 address; on a port that the system chooses if Port is 0.
   --  Network_Error if it cannot; Storage_Error or Tasking_Error if memory or threads lack. SIGPIPE
   --  is ignored from here on.

   procedure Start
     (Self    : in out Web_Server;
      Service : not null Services.Service_Reference;
      Address : String := "127.0.0.1";
      Port    : Port_Number := 0;
      Options : Settings := (others => <>))
     with Pre  => not Self.Is_Running and then Options.Loops <= Options.Workers,
          Post => Self.Is_Running;

   procedure Stop (Self : in out Web_Server)
     with Post => not Self.Is_Running;
   --  Accepts no more connections, answers pending requests, and closes the connections. Clients
   --  delay this by 4 seconds at most. Handlers that run are waited for.

   function Is_Running (Self : Web_Server) return Boolean;

   function Port (Self : Web_Server) return Port_Number
     with Pre => Self.Is_Running;

   function Loops (Self : Web_Server) return Positive
     with Pre => Self.Is_Running;

private

   type Engine;
   type Engine_Reference is access Engine;

   type Web_Server is new Ada.Finalization.Limited_Controlled with record
      Engine : Engine_Reference := null;
   end record;

   overriding procedure Finalize (Self : in out Web_Server);

   function Is_Running (Self : Web_Server) return Boolean is (Self.Engine /= null);

end Appserver.HTTP.Server;
