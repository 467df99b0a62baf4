--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  The connections of a server, and the event loop that waits for events on them. Only one task at
--  a time serves a loop. The task reads the bytes that have arrived, processes requests in its
--  context, and sends as many bytes of the responses as possible. If the rest of a request or a
--  response must wait for the client, the task moves this data from its context to the loop's
--  blocks.
--
--  The loop itself does not manage tasks. A profile with multiple tasks overrides the hooks Leave
--  and Come_Back, which are called when a task leaves a loop temporarily and when the task returns.
--  In between, another task may serve the loop.

pragma Ada_2022;

with Appserver.HTTP.Access_Logs;
with Appserver.HTTP.Blocks;
with Appserver.HTTP.Channel_Cores;
with Appserver.HTTP.Dates;
with Appserver.HTTP.Contexts;
with Appserver.HTTP.Linux;
with Appserver.HTTP.Parsing;
with Appserver.HTTP.Services;
with Appserver.HTTP.Transports;

private package Appserver.HTTP.Loops is

   pragma Assertion_Policy (Pre => Check, Pre'Class => Check);

   type Slot_Count is range 0 .. 2 ** 20;
   subtype Slot_Index is Slot_Count range 1 .. Slot_Count'Last;

   type Event_Loop (Slots : Slot_Index; Waiting : Blocks.Block_Count) is
     tagged limited private;

   type Handler_Reference is access function (Request : HTTP.Request) return Response;

   Max_Listeners : constant := 16;

   type Listener is record
      Socket    : Descriptor := No_File;
      --  A listening socket
      Transport : Transports.Transport_Reference := null;
      --  The transport of its connections; null if they are not encrypted
      Is_Passed : Boolean := False;
      --  True if the service manager has passed the socket and continues to listen. A loop that
      --  stops leaves the clients of this socket to the next process.
   end record;

   type Listener_List is array (Positive range <>) of Listener;

   procedure Open
     (Self      : in out Event_Loop;
      Listeners : Listener_List;
      Is_Shared : Boolean;
      Handle    : Handler;
      Service   : Services.Service_Reference;
      Limits    : Parsing.Limits;
      Times     : Time_Limits;
      Report    : Exception_Report;
      Log       : Access_Logs.Log_Reference;
      Writes    : Boolean)
     with Pre => Listeners'Length in 1 .. Max_Listeners;
   --  Starts waiting for connections on Listeners, which the loop closes when it stops. If
   --  Is_Shared is True, other loops wait for the same listeners, and the last loop to stop closes
   --  them. The loop calls Service, or Handle if Service is null. Log may be null. If Writes is
   --  True, the loop writes the log to its file before it waits; otherwise, another task writes the
   --  log.

   procedure Allow_Channels (Self : in out Event_Loop);
   --  Lets responses open channels, which use the heap

   procedure Close (Self : in out Event_Loop);
   --  Closes the loop and its remaining connections

   procedure Serve (Self : in out Event_Loop'Class; Context : in out Contexts.Context);
   --  Serves the loop's connections until the loop is over, another task serves the loop, or the
   --  watched file has input. Reports exceptions and does not propagate them.

   procedure Adopt
     (Self      : in out Event_Loop;
      Socket    : Descriptor;
      Client    : IP_Addresses.Address;
      Transport : Transports.Transport_Reference)
     with Pre => Has_Free_Slot (Self);
   --  Adds an accepted connection

   function Has_Free_Slot (Self : Event_Loop) return Boolean;

   function Connections (Self : Event_Loop) return Slot_Count with Inline;

   function Channels (Self : Event_Loop) return Slot_Count with Inline;
   --  Returns the number of open channels

   procedure Ask_To_Stop (Self : in out Event_Loop);
   --  Asks the loop to stop. Any task may call this procedure. The loop responds to requests that
   --  have begun to arrive, tells clients with "Connection: close" that it will close their
   --  connections, and is over when all connections are closed.

   function Is_Stopping (Self : Event_Loop) return Boolean;
   function Is_Over (Self : Event_Loop) return Boolean;

   procedure Wake (Self : Event_Loop);
   --  Wakes the task that waits in Serve. Any task may call this procedure.

   --------------
   -- Watching --
   --------------

   procedure Watch (Self : in out Event_Loop; File : Descriptor);
   --  Makes Serve return when File has input, or if the system cannot wait for File, for example
   --  because File is a regular file. With No_File, Serve no longer waits for a file.

   -----------
   -- Hooks --
   -----------

   type Absence is (Waiting, Handling);

   procedure Leave (Self : in out Event_Loop; Context : Contexts.Context; Reason : Absence) is null;
   procedure Come_Back
     (Self : in out Event_Loop; Context : Contexts.Context; Reason : Absence) is null;
   --  Leave is called before the task waits or runs a handler, and Come_Back is called afterwards.
   --  In between, the state of the loop is consistent, so another context may serve the loop.

   procedure Wait_Anywhere
     (Self : in out Event_Loop; Context : Contexts.Context; Milliseconds : in out Integer) is null;
   --  Waits for work in this loop or in other loops for at most Milliseconds. Sets Milliseconds to
   --  the time for which the loop itself should continue to wait. Called between Leave and
   --  Come_Back when the loop has no work.

   function Events_Of (Self : Event_Loop) return Descriptor;
   --  Returns a descriptor that has input when the loop has work

   function Is_Served (Self : Event_Loop; Context : Contexts.Context) return Boolean is (True);
   --  Returns True if Context still serves the loop

   procedure Stop_Listening (Self : in out Event_Loop; Is_Last : out Boolean);
   --  Stops listening. Sets Is_Last to True if no other loop still listens.

   procedure Place
     (Self      : in out Event_Loop;
      Context   : Contexts.Context;
      Socket    : Descriptor;
      Client    : IP_Addresses.Address;
      Transport : Transports.Transport_Reference);
   --  Assigns an accepted connection to a loop. The default implementation assigns it to Self.

   procedure Offer (Self : in out Event_Loop; Is_Taken : out Boolean);
   --  Offers a waiting client to other loops; called when this loop has no free slot. If another
   --  loop has a free slot, wakes that loop to accept the client, and sets Is_Taken to True. The
   --  default implementation has no other loops, and sets Is_Taken to False.

   function May_Open_Channel (Self : Event_Loop) return Boolean;
   --  Returns True if fewer than seven eighths of the connections are channels, so that there is
   --  room for requests. The default implementation has no other loops.

   function Now (Self : Event_Loop) return Byte_Count with Inline;
   --  Returns the loop's current time, in milliseconds

private

   type Connection_State is
     (Free, Handshaking, Reading, Busy, Sending, Streaming, Lingering);
   --  The state of a connection. Handshaking: the session of a transport is being established.
   --  Busy: a handler is running. Streaming: the connection is an open channel, and the client has
   --  received what was sent to it. Lingering: the response has been sent, and the server reads and
   --  discards input to its end, since closing the connection earlier could cause an error at the
   --  client (RFC 9112, 9.6).

   type Awaited_Part is (Await_None, Await_Request, Await_Header, Await_Content);
   --  The part of a request that the server waits for, in the order of arrival. Await_None: a
   --  request has been processed, and the server has not checked how much of the next request has
   --  arrived.

   type Connection is record
      State          : Connection_State;
      Awaits         : Awaited_Part;
      Is_Disarmed    : Boolean;
      --  True if the connection has been removed from the epoll set because an event arrived while
      --  it was Busy
      Is_Last        : Boolean;
      --  True if the connection must be closed when the output has been sent
      Lingers        : Boolean;
      Refusal_Is_Due : Boolean;
      --  True if the status 503 must be sent after the current response
      Is_Inverted    : Boolean;
      --  True if the session must send before it can receive, or receive before it can send
      Socket         : Descriptor;
      Next           : Slot_Count;
      --  The next free slot. It is declared at this position because it needs no padding here.
      Session        : Transports.Session_Reference;
      --  The session of the listener's transport; null if the connection is not encrypted
      Client         : IP_Addresses.Address;
      Deadline       : Byte_Count;
      --  The time in milliseconds at which the connection is closed, unless the client sends or
      --  receives bytes at the minimum rate
      Since          : Byte_Count;
      --  The time at which the server began to wait for the client
      Due            : Byte_Count;
      --  The time by which a client that transfers data at Crowded_Rate would have transferred the
      --  same bytes. After this time, the server may close the connection to make room for other
      --  clients.
      Unsent         : Byte_Count;
      --  The number of unacknowledged bytes at the last query of the socket, plus the number of
      --  bytes sent since then
      Input          : Blocks.Chain;
      Progress       : HTTP.Progress;
      --  The progress of the request at the beginning of Input
      Receiver       : Services.Receiver_Reference;
      --  The receiver of the content in Input; null if there is none
      Header         : Blocks.Chain;
      --  The header of the request whose content is passed to the receiver
      Output         : Blocks.Chain;
      Channel        : Channel_Cores.Core_Reference;
      --  The channel that the connection has become; null if the response opened no channel
      Tail           : Contexts.Tail;
   end record;

   --  The components of a connection are initialized when the connection begins, so the memory of
   --  unused slots is never written and does not become resident

   pragma Warnings (Off, "component of * padded by * bits");
   type Connection_Array is array (Slot_Index range <>) of Connection
     with Suppress_Initialization, Component_Size => 2_048;
   --  The size is a power of two, so that the address of an element, and the address of a component
   --  after the array, need fewer instructions
   pragma Warnings (On, "component of * padded by * bits");

   type Flag_List is array (Positive range <>) of Boolean;

   type Milliseconds_Of is array (Awaited_Part) of Byte_Count;

   type Event_Loop (Slots : Slot_Index; Waiting : Blocks.Block_Count) is tagged limited record
      Handle       : Handler_Reference := null;
      Service      : Services.Service_Reference := null;
      Plans        : Boolean := False;
      --  True if the service chooses a policy for each request before its content is read
      Report       : Exception_Report := null;
      Log          : Access_Logs.Log_Reference := null;
      Writes_Log   : Boolean := False;
      Limits       : Parsing.Limits;
      Timeouts     : Milliseconds_Of := [others => 0];
      For_Sending  : Byte_Count      := 0;
      For_Closing  : Byte_Count      := 0;

      Listeners      : Listener_List (1 .. Max_Listeners);
      Listener_Count : Natural    := 0;
      Is_Added       : Flag_List (1 .. Max_Listeners) := [others => False];
      --  True for each listener in the epoll set
      Is_Shared      : Boolean    := False;
      Is_Listening   : Boolean    := False;
      --  True if all listeners are in the epoll set
      Is_Crowded   : Boolean    := False;
      --  True if a client is waiting to be accepted, even if the loop has already closed another
      --  connection to make room for it
      Is_Paused    : Boolean    := False;
      --  True if the loop does not accept clients until a slot is free
      Set          : Descriptor := No_File;
      Wake_Event   : Descriptor := No_File;
      Watched      : Descriptor := No_File;
      Has_Input    : Boolean    := False;
      --  True if the watched file has input

      Must_Stop    : Boolean := False with Atomic;
      Is_Stopping  : Boolean := False;
      Listen_Until : Byte_Count := 0;
      Give_Up      : Byte_Count := 0;
      --  The time on the system's clock at which the loop closes the remaining connections

      Clock        : Byte_Count := 0;
      --  The latest reading of the system's clock
      Now          : Byte_Count := 0;
      Next_Sweep   : Byte_Count := 0;
      Date_Time    : Byte_Count := Byte_Count'Last;
      Date         : Dates.Date_Text := Dates.Image (0);

      Next_Event   : Positive := 1;
      Event_Count  : Natural  := 0;
      Events       : Linux.Event_List;

      Ready        : aliased Channel_Cores.Ready_List;
      --  The channels that have something to send, or have ended
      Has_Channels : Boolean    := False;
      Channels     : Slot_Count := 0 with Atomic;

      Count        : Slot_Count := 0 with Atomic;
      Used         : Slot_Count := 0;
      Free_Slot    : Slot_Count := 0;
      Connections  : Connection_Array (1 .. Slots);
      Pool         : Blocks.Pool (Waiting);
   end record;

   function Connections (Self : Event_Loop) return Slot_Count is (Self.Count);
   function Channels (Self : Event_Loop) return Slot_Count is (Self.Channels);
   function May_Open_Channel (Self : Event_Loop) return Boolean is
     (Self.Channels < Self.Slots - (Self.Slots + 7) / 8);
   function Events_Of (Self : Event_Loop) return Descriptor is (Self.Set);
   function Has_Free_Slot (Self : Event_Loop) return Boolean is (Self.Count < Self.Slots);
   function Is_Stopping (Self : Event_Loop) return Boolean is (Self.Is_Stopping);
   function Is_Over (Self : Event_Loop) return Boolean is
     (Self.Is_Stopping
      and then Self.Listener_Count = 0
      and then Self.Count = 0
      and then not Channel_Cores.Has_Some (Self.Ready));
   function Now (Self : Event_Loop) return Byte_Count is (Self.Now);

end Appserver.HTTP.Loops;
