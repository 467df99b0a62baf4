--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  The connections of a server, and the loop that waits for what happens on them. One task at a
--  time serves a loop. It reads what has arrived, has it answered in its context, and sends what it
--  can; whatever then has to wait for a client leaves the context for the loop's blocks.
--
--  It knows nothing of tasks. A profile that has several overrides what is called when a task
--  leaves a loop for a while, and comes back: others may serve it in the meantime.

pragma Ada_2022;

with Appserver.HTTP.Access_Logs;
with Appserver.HTTP.Blocks;
with Appserver.HTTP.Dates;
with Appserver.HTTP.Contexts;
with Appserver.HTTP.Linux;
with Appserver.HTTP.Parsing;
with Appserver.HTTP.Services;

private package Appserver.HTTP.Loops is

   pragma Assertion_Policy (Pre => Check, Pre'Class => Check);

   type Slot_Count is range 0 .. 2 ** 20;
   subtype Slot_Index is Slot_Count range 1 .. Slot_Count'Last;

   type Event_Loop (Slots : Slot_Index; Waiting : Blocks.Block_Count) is
     tagged limited private;

   type Handler_Reference is access function (Request : HTTP.Request) return Response;

   procedure Open
     (Self      : in out Event_Loop;
      Listener  : Descriptor;
      Is_Shared : Boolean;
      Handle    : Handler;
      Service   : Services.Service_Reference;
      Limits    : Parsing.Limits;
      Times     : Time_Limits;
      Report    : Exception_Report;
      Log       : Access_Logs.Log_Reference;
      Writes    : Boolean);
   --  Waits for connections of Listener, which it closes when it stops. Is_Shared: other loops do
   --  so too, and the last one closes it. Handle is called if Service is null.
   --  Log may be null. Writes: the loop writes it out before it waits; else another task does.

   procedure Close (Self : in out Event_Loop);
   --  Closes the remaining connections, too

   procedure Serve (Self : in out Event_Loop'Class; Context : in out Contexts.Context);
   --  Returns when the loop is over, another task serves it, or there is input on the watched file.
   --  Exceptions are reported and not raised.

   procedure Adopt
     (Self : in out Event_Loop; Socket : Descriptor; Client : IP_Addresses.Address)
     with Pre => Has_Free_Slot (Self);
   --  Adds an accepted connection

   function Has_Free_Slot (Self : Event_Loop) return Boolean;

   function Connections (Self : Event_Loop) return Slot_Count with Inline;

   procedure Ask_To_Stop (Self : in out Event_Loop);
   --  Any task may call this. The loop answers requests that have begun, tells clients that it
   --  closes their connections, and is over when all are closed.

   function Is_Stopping (Self : Event_Loop) return Boolean;
   function Is_Over (Self : Event_Loop) return Boolean;

   procedure Wake (Self : Event_Loop);
   --  Any task may wake the one that waits in Serve

   --------------
   -- Watching --
   --------------

   procedure Watch (Self : in out Event_Loop; File : Descriptor);
   --  Serve returns when there is input on File, or if File cannot be waited for, such as a regular
   --  file. No_File ends this.

   -----------
   -- Hooks --
   -----------

   type Absence is (Waiting, Handling);

   procedure Leave (Self : in out Event_Loop; Context : Contexts.Context; Reason : Absence) is null;
   procedure Come_Back
     (Self : in out Event_Loop; Context : Contexts.Context; Reason : Absence) is null;
   --  Called before and after a wait or a handler. In between, the loop may be served from another
   --  context: its state is consistent.

   procedure Wait_Anywhere
     (Self : in out Event_Loop; Context : Contexts.Context; Milliseconds : in out Integer) is null;
   --  Called between Leave and Come_Back when the loop has nothing to do: waits for work here or
   --  elsewhere, for at most Milliseconds, which is then the time that is left to wait here.

   function Events_Of (Self : Event_Loop) return Descriptor;
   --  A descriptor that has input when there is something to do

   function Is_Served (Self : Event_Loop; Context : Contexts.Context) return Boolean is (True);
   --  True if Context still serves the loop

   procedure Stop_Listening (Self : in out Event_Loop; Is_Last : out Boolean);
   --  Ends listening. Is_Last tells whether no other loop listens.

   procedure Place
     (Self    : in out Event_Loop;
      Context : Contexts.Context;
      Socket  : Descriptor;
      Client  : IP_Addresses.Address);
   --  Finds a loop for an accepted connection: here, this one

   procedure Offer (Self : in out Event_Loop; Is_Taken : out Boolean);
   --  Called when a client waits to be accepted, and this loop has no slot for it. Is_Taken tells
   --  whether another loop has one, and was woken to accept it: here, there is none.

   function Now (Self : Event_Loop) return Byte_Count with Inline;
   --  The loop's time, in milliseconds

private

   type Connection_State is (Free, Reading, Busy, Sending, Lingering);
   --  Busy: a handler runs. Lingering: all is sent, and input is read to its end, since the client
   --  might see an error otherwise (RFC 9112, 9.6).

   type Awaited_Part is (Await_None, Await_Request, Await_Header, Await_Content);
   --  In the order of arrival. Await_None: a request was answered, and it is not known yet how much
   --  of the next one has arrived.

   type Connection is record
      State          : Connection_State;
      Awaits         : Awaited_Part;
      Is_Disarmed    : Boolean;
      --  Not waited for, since an event came while it was Busy
      Is_Last        : Boolean;
      --  To be closed when all is sent
      Lingers        : Boolean;
      Refusal_Is_Due : Boolean;
      --  503 is due when the response before it is sent
      Socket         : Descriptor;
      Client         : IP_Addresses.Address;
      Deadline       : Byte_Count;
      --  When it is closed, unless the client sends or takes bytes at the least rate
      Since          : Byte_Count;
      --  When the client began to be waited for
      Due            : Byte_Count;
      --  The time that its bytes since then account for at the crowded rate: one that is behind
      --  makes room for others
      Unsent         : Byte_Count;
      --  Bytes that the system had, when it was last asked, and that it got since then
      Input          : Blocks.Chain;
      Progress       : HTTP.Progress;
      --  Of the request at the beginning of Input
      Receiver       : Services.Receiver_Reference;
      --  Of the content in Input; null without a receiver
      Header         : Blocks.Chain;
      --  Of the request whose content it receives
      Output         : Blocks.Chain;
      Tail           : Contexts.Tail;
      Next           : Slot_Count;
      --  The next free one
   end record;

   --  A connection gets its values when it begins, so that memory of unused slots is never touched

   type Connection_Array is array (Slot_Index range <>) of Connection
     with Suppress_Initialization;

   type Milliseconds_Of is array (Awaited_Part) of Byte_Count;

   type Event_Loop (Slots : Slot_Index; Waiting : Blocks.Block_Count) is tagged limited record
      Handle       : Handler_Reference := null;
      Service      : Services.Service_Reference := null;
      Plans        : Boolean := False;
      --  The service is asked before content is read
      Report       : Exception_Report := null;
      Log          : Access_Logs.Log_Reference := null;
      Writes_Log   : Boolean := False;
      Limits       : Parsing.Limits;
      Timeouts     : Milliseconds_Of := [others => 0];
      For_Sending  : Byte_Count      := 0;
      For_Closing  : Byte_Count      := 0;

      Listener     : Descriptor := No_File;
      Is_Shared    : Boolean    := False;
      Is_Listening : Boolean    := False;
      Is_Crowded   : Boolean    := False;
      --  A client waits to be accepted, and others had to make room for it, or do not
      Is_Paused    : Boolean    := False;
      --  It listens again when there is room
      Set          : Descriptor := No_File;
      Wake_Event   : Descriptor := No_File;
      Watched      : Descriptor := No_File;
      Has_Input    : Boolean    := False;
      --  Of what is watched

      Must_Stop    : Boolean := False with Atomic;
      Is_Stopping  : Boolean := False;
      Listen_Until : Byte_Count := 0;
      Give_Up      : Byte_Count := 0;
      --  By the system's clock

      Clock        : Byte_Count := 0;
      --  The system's, when it was last looked at
      Now          : Byte_Count := 0;
      Next_Sweep   : Byte_Count := 0;
      Date_Time    : Byte_Count := Byte_Count'Last;
      Date         : Dates.Date_Text := Dates.Image (0);

      Next_Event   : Positive := 1;
      Event_Count  : Natural  := 0;
      Events       : Linux.Event_List;

      Count        : Slot_Count := 0 with Atomic;
      Used         : Slot_Count := 0;
      Free_Slot    : Slot_Count := 0;
      Connections  : Connection_Array (1 .. Slots);
      Pool         : Blocks.Pool (Waiting);
   end record;

   function Connections (Self : Event_Loop) return Slot_Count is (Self.Count);
   function Events_Of (Self : Event_Loop) return Descriptor is (Self.Set);
   function Has_Free_Slot (Self : Event_Loop) return Boolean is (Self.Count < Self.Slots);
   function Is_Stopping (Self : Event_Loop) return Boolean is (Self.Is_Stopping);
   function Is_Over (Self : Event_Loop) return Boolean is
     (Self.Is_Stopping and then Self.Listener = No_File and then Self.Count = 0);
   function Now (Self : Event_Loop) return Byte_Count is (Self.Now);

end Appserver.HTTP.Loops;
