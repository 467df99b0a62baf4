--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

pragma Ada_2022;

with Ada.Exceptions;

package body Appserver.HTTP.Loops is

   use type Access_Logs.Log_Reference;
   use type Channel_Cores.Core_Reference;
   use type IP_Addresses.Address;
   use type Services.Receiver_Reference;
   use type Services.Service_Reference;
   use type Transports.Outcome;
   use type Transports.Session_Reference;
   use type Transports.Transport_Reference;
   use type Linux.Key;
   use type Linux.Outcome;
   use type Parsing.Outcome;

   --  Keys of the loop's own descriptors. The keys of connections are the indices of their slots.

   Wake_Key       : constant Linux.Key := Linux.Key'Last;
   Watched_Key    : constant Linux.Key := Linux.Key'Last - 1;
   Last_Listener  : constant Linux.Key := Linux.Key'Last - 2;
   First_Listener : constant Linux.Key := Last_Listener - Max_Listeners + 1;

   --  In milliseconds

   Between_Sweeps      : constant := 1_000;
   Between_Last_Sweeps : constant := 10;
   For_Connecting      : constant := 20;
   Max_Stop            : constant := 4_000;
   For_Lingering       : constant := 2_000;
   After_Error         : constant := 10;
   Between_Writes   : constant := 100;
   Between_Attempts : constant := 50;
   --  The interval, in ms, of attempts to find room for clients that wait to be accepted
   Idle_Grace       : constant := 500;
   --  The time, in ms, that a connection must be idle before it is closed to make room for another
   First_Grace      : constant := 50;
   --  The time, in ms, that a connection without a request must be idle before it is closed to make
   --  room for another
   Handshake_Grace  : constant := 1_000;
   --  The time, in ms, after which a connection whose handshake is not complete counts as slow
   Max_Credit       : constant := 10_000;
   --  The maximum time, in ms, for which a client that was fast enough earlier is still treated as
   --  fast

   Max_Tolerance    : constant := 500;
   --  The maximum time, in ms, by which a client that was fast enough so far may be late

   Max_Accepted : constant := 64;
   --  The maximum number of connections accepted before other events are processed
   Max_Sent     : constant := 2 ** 20;
   --  The maximum number of bytes sent before other events are processed
   Max_Evicted  : constant := 32;
   --  The maximum number of connections closed at a time to make room for others

   function To_Milliseconds (Time : Duration) return Byte_Count is
     (Byte_Count (Time * 1_000));

   ----------
   -- Time --
   ----------

   --  Updates the loop's time. Time during which the process was suspended or had no work does not
   --  count, since this time is not the fault of the clients.

   procedure Note_Time (Self : in out Event_Loop) is
      Clock : constant Byte_Count := Linux.Milliseconds;
   begin
      Self.Now   := Self.Now + Byte_Count'Min (Clock - Self.Clock, 2 * Between_Sweeps);
      Self.Clock := Clock;
   end Note_Time;

   procedure Note_Date (Self : in out Event_Loop) is
      Time : constant Byte_Count := Linux.Unix_Time;
   begin
      if Time /= Self.Date_Time then
         Self.Date      := Dates.Image (Dates.Common_Time (Time));
         Self.Date_Time := Time;
      end if;
   end Note_Date;

   --------------------------
   -- Opening and stopping --
   --------------------------

   --  Starts listening. If the system has no resources now, the next sweep over the connections
   --  tries again.

   procedure Listen (Self : in out Event_Loop) is
   begin
      Self.Is_Crowded := False;
      Self.Is_Paused  := False;
      if not Self.Is_Listening and then Self.Listener_Count > 0 then
         for K in 1 .. Self.Listener_Count loop
            Self.Is_Added (K) := Self.Is_Added (K) or else Linux.Added
              (Self.Set, Self.Listeners (K).Socket,
               (if Self.Is_Shared then Linux.Shared_Input else Linux.Input),
               First_Listener + Linux.Key (K - 1));
         end loop;
         Self.Is_Listening :=
           (for all Is_Added of Self.Is_Added (1 .. Self.Listener_Count) => Is_Added);
      end if;
   end Listen;

   procedure Pause_Listening (Self : in out Event_Loop) is
   begin
      Self.Is_Listening := False;
      for K in 1 .. Self.Listener_Count loop
         if Self.Is_Added (K) then
            Self.Is_Added (K) := False;
            Linux.Remove (Self.Set, Self.Listeners (K).Socket);
         end if;
      end loop;
   end Pause_Listening;

   procedure Stop_Listening (Self : in out Event_Loop; Is_Last : out Boolean) is
   begin
      Pause_Listening (Self);
      Is_Last := True;
   end Stop_Listening;

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
      Writes    : Boolean) is
   begin
      Linux.Use_Small_Pages (Self'Address, Event_Loop'Class (Self)'Size / 8);
      Self.Handle  := Handler_Reference (Handle);
      Self.Service := Service;
      Self.Plans       :=
        Service /= null and then Service.all in Services.Content_Service'Class;
      Self.Report     := Report;
      Self.Log        := (if Log = null or else not Log.Is_Open then null else Log);
      Self.Writes_Log := Writes and then Self.Log /= null;
      Self.Limits     := Limits;
      Self.Timeouts    :=
        [Await_None    => 0,
         Await_Request => To_Milliseconds (Times.Idle),
         Await_Header  => To_Milliseconds (Times.Header),
         Await_Content => To_Milliseconds (Times.Content)];
      Self.For_Sending := To_Milliseconds (Times.Sending);
      Self.For_Closing := To_Milliseconds (Times.Closing);
      Self.Listeners (1 .. Listeners'Length) := Listeners;
      Self.Listener_Count := Listeners'Length;
      Self.Is_Added       := [others => False];
      Self.Is_Listening   := False;
      Self.Is_Shared   := Is_Shared;
      Self.Clock       := Linux.Milliseconds;
      Self.Must_Stop   := False;
      Self.Is_Stopping := False;
      Self.Event_Count := 0;
      Self.Set  := Linux.New_Set;
      Self.Wake_Event := Linux.New_Wake_Event;
      Linux.Add (Self.Set, Self.Wake_Event, Linux.Input, Wake_Key);
      Channel_Cores.Open (Self.Ready, Self.Wake_Event);
      Listen (Self);
   exception
      when others =>
         Self.Close;
         raise;
   end Open;

   procedure Wake (Self : Event_Loop) is
   begin
      Linux.Signal (Self.Wake_Event);
   end Wake;

   procedure Allow_Channels (Self : in out Event_Loop) is
   begin
      Self.Has_Channels := True;
   end Allow_Channels;

   procedure Ask_To_Stop (Self : in out Event_Loop) is
   begin
      Self.Must_Stop := True;
      Self.Wake;
   end Ask_To_Stop;

   procedure Watch (Self : in out Event_Loop; File : Descriptor) is
   begin
      if Self.Watched /= File then
         if Self.Watched /= No_File then
            Linux.Remove (Self.Set, Self.Watched);
            Self.Watched := No_File;
         end if;
         if File /= No_File and then Linux.Can_Be_Waited_For (Self.Set, File) then
            Linux.Add (Self.Set, File, Linux.Input, Watched_Key);
            Self.Watched := File;
         end if;
      end if;
      Self.Has_Input := Self.Watched /= File;
   end Watch;

   --------------
   -- Channels --
   --------------

   package Pushing is

      procedure Open_Channel
        (Self     : in out Event_Loop'Class;
         Slot     : Slot_Index;
         Context  : in out Contexts.Context;
         Response : HTTP.Response;
         Began    : Byte_Count);
      --  Responds to the request in the context with a channel, or with an error. Began is the
      --  start time of the handler, in ns.

      procedure Begin_Channel
        (Self    : in out Event_Loop'Class;
         Slot    : Slot_Index;
         Context : in out Contexts.Context;
         Result  : Linux.Outcome);
      --  Begins to use a channel. Result is the result of sending its header. The bytes in the
      --  context are the client's first bytes.

      procedure Read
        (Self : in out Event_Loop'Class; Slot : Slot_Index; Context : in out Contexts.Context);
      --  Reads what the client of a channel has sent

      procedure Go_On
        (Self : in out Event_Loop'Class; Slot : Slot_Index; Context : in out Contexts.Context);
      --  Continues to send to a client that has been slow

      procedure Time_Out
        (Self : in out Event_Loop'Class; Slot : Slot_Index; Context : in out Contexts.Context);

      procedure Stop (Self : in out Event_Loop; Slot : Slot_Index);
      --  Asks the client of a channel to go, since the server stops

      procedure Detach (Self : in out Event_Loop; Slot : Slot_Index);
      --  Ends the channel of a connection

      procedure Serve_Next (Self : in out Event_Loop'Class; Context : in out Contexts.Context);
      --  Sends to the first channel of the ready list, or finishes it if it has ended

      procedure Drop_All (Self : in out Event_Loop);
      --  Finishes the channels that have ended

   end Pushing;

   -----------
   -- Slots --
   -----------

   --  Closes the receiver of a request's content before the end of the content

   procedure Drop_Stream (Self : in out Event_Loop; Slot : Slot_Index) is
      Connection : Loops.Connection renames Self.Connections (Slot);
   begin
      Blocks.Drop (Self.Pool, Connection.Header);
      Contexts.Close (Connection.Receiver);
   end Drop_Stream;

   --  Ends the session of a connection without telling the client, who thus notices that a response
   --  may be incomplete

   procedure Drop_Session (Connection : in out Loops.Connection) is
      Session : constant Transports.Session_Reference := Connection.Session;
   begin
      Connection.Session := null;
      if Session /= null then
         Session.Close;
      end if;
   end Drop_Session;

   pragma No_Inline (Drop_Session);

   --  Ends the session of a connection. Tells the client so if all responses are complete, as far
   --  as this is possible without waiting.

   procedure End_Session (Connection : in out Loops.Connection) is
      Ignored : Transports.Outcome;
   begin
      if Connection.State in Reading | Streaming | Lingering then
         Connection.Session.Shut_Down (Ignored);
      end if;
      Drop_Session (Connection);
   end End_Session;

   --  Closes a connection, which also removes its socket from the epoll set

   procedure Release (Self : in out Event_Loop; Slot : Slot_Index) is
      Connection : Loops.Connection renames Self.Connections (Slot);
   begin
      if Connection.Session /= null then
         End_Session (Connection);
      end if;
      Linux.Close (Connection.Socket);
      Blocks.Drop (Self.Pool, Connection.Input);
      Blocks.Drop (Self.Pool, Connection.Output);
      Contexts.Drop (Connection.Tail);
      Drop_Stream (Self, Slot);
      if Connection.Channel /= null then
         Pushing.Detach (Self, Slot);
      end if;
      Connection.State := Free;
      Connection.Next  := Self.Free_Slot;
      Self.Free_Slot := Slot;
      Self.Count     := Self.Count - 1;
      if Self.Is_Paused then
         Listen (Self);
      end if;
   end Release;

   --  Resets a connection, so that the client, which does not have the complete response, gets an
   --  error

   procedure Cut (Self : in out Event_Loop; Slot : Slot_Index) is
   begin
      Drop_Session (Self.Connections (Slot));
      Linux.Reset_When_Closed (Self.Connections (Slot).Socket);
      Release (Self, Slot);
   end Cut;

   --  Starts to wait for the first request of a connection

   procedure Await_First_Request (Self : Event_Loop; Connection : in out Loops.Connection) is
   begin
      Connection.State    := Reading;
      Connection.Since    := Self.Now;
      Connection.Due      := Byte_Count'Max (Self.Now - Idle_Grace + First_Grace, 0);
      Connection.Deadline := Self.Now
        + (if Self.Is_Stopping then Self.For_Closing else Self.Timeouts (Await_Request));
   end Await_First_Request;

   --  Starts the session of a connection. The whole handshake has the time limit of a header.

   procedure Begin_Session
     (Self       : Event_Loop;
      Connection : in out Loops.Connection;
      Transport  : Transports.Transport_Reference) is
   begin
      Connection.Session := Transport.New_Session (Connection.Socket);
      if Connection.Session = null then
         raise Network_Error with "there is not enough memory for a session";
      end if;
      Connection.State    := Handshaking;
      Connection.Due      := Self.Now + Handshake_Grace;
      Connection.Deadline := Self.Now
        + (if Self.Is_Stopping then Self.For_Closing else Self.Timeouts (Await_Header));
   end Begin_Session;

   procedure Adopt
     (Self      : in out Event_Loop;
      Socket    : Descriptor;
      Client    : IP_Addresses.Address;
      Transport : Transports.Transport_Reference)
   is
      Slot : Slot_Index;
   begin
      if Self.Free_Slot /= 0 then
         Slot := Self.Free_Slot;
         Self.Free_Slot := Self.Connections (Slot).Next;
      else
         Self.Used := Self.Used + 1;
         Slot := Self.Used;
      end if;
      Self.Count := Self.Count + 1;
      Self.Connections (Slot) :=
        (State    => Reading,
         Awaits   => Await_Request,
         Socket   => Socket,
         Session  => null,
         Client   => Client,
         Deadline => 0,
         Since    => 0,
         Due      => 0,
         Input    => Blocks.Empty,
         Receiver => null,
         Header   => Blocks.Empty,
         Output   => Blocks.Empty,
         Channel  => null,
         Progress => (others => <>),
         Tail     => Contexts.No_Tail,
         Unsent   => 0,
         Next     => 0,
         others   => False);
      Await_First_Request (Self, Self.Connections (Slot));
      if Transport /= null then
         Begin_Session (Self, Self.Connections (Slot), Transport);
      end if;
      Linux.Add (Self.Set, Socket, Linux.Input, Linux.Key (Slot));
   exception
      when Network_Error =>
         --  The system has no resources for the connection
         Release (Self, Slot);
   end Adopt;

   procedure Close (Self : in out Event_Loop) is
      procedure Close (File : in out Descriptor) is
      begin
         if File /= No_File then
            Linux.Close (File);
            File := No_File;
         end if;
      end Close;
   begin
      Self.Is_Paused := False;
      for Slot in 1 .. Self.Used loop
         if Self.Connections (Slot).State /= Free then
            Release (Self, Slot);
         end if;
      end loop;
      Pushing.Drop_All (Self);
      Close (Self.Set);
      Close (Self.Wake_Event);
      Self.Watched := No_File;
   end Close;

   -----------
   -- Rates --
   -----------

   --  Returns the time in milliseconds for a number of bytes at a rate

   function Time_For (Bytes, Rate : Byte_Count) return Byte_Count is
     (Bytes / Rate * 1_000 + Bytes mod Rate * 1_000 / Rate);

   --  Records that the client sent or received bytes. A client that is faster than the crowded rate
   --  keeps its connection when other clients need room. The time that the client has gained so far
   --  counts as credit.

   procedure Note_Progress (Self : in out Event_Loop; Slot : Slot_Index; Bytes : Byte_Count) is
      Connection : Loops.Connection renames Self.Connections (Slot);
   begin
      Connection.Due := Byte_Count'Min
        (Connection.Due + Time_For (Bytes, Crowded_Rate),
         Self.Now + Byte_Count'Min (Self.Now - Connection.Since, Max_Credit));
   end Note_Progress;

   --  Clients send and receive in bursts. So a client that was fast enough so far may be late for
   --  half of that time, up to a limit.

   function Tolerance (Connection : Loops.Connection) return Byte_Count is
     (if Connection.Due <= Connection.Since then 0
      else Byte_Count'Min ((Connection.Due - Connection.Since) / 2, Max_Tolerance));

   function Is_Slow (Self : Event_Loop; Connection : Loops.Connection) return Boolean is
     (Connection.Due + Tolerance (Connection) <= Self.Now);

   --  Returns a measure, in ms, of the difference between a client's rate and the crowded rate: the
   --  time by which the client is late, times the fraction of its time for which it is late. So
   --  among slow clients, clients that are only slightly too slow have the smallest values, and
   --  clients that transfer nothing have the greatest values.

   function Lateness (Self : Event_Loop; Connection : Loops.Connection) return Byte_Count is
      Late : constant Byte_Count := Self.Now - Connection.Due + 1;
      Age  : constant Byte_Count :=
        Byte_Count'Max (Late, Byte_Count'Min (Self.Now - Connection.Since + 1, Max_Credit));
   begin
      return Byte_Count (Float'Rounding (Float (Late) * (Float (Late) / Float (Age))));
   end Lateness;

   --  Extends the deadline: a client that reaches the minimum rate always keeps its connection

   procedure Prolong
     (Self : in out Event_Loop; Slot : Slot_Index; Bytes : Byte_Count; Limit : Byte_Count)
   is
      Connection : Loops.Connection renames Self.Connections (Slot);
   begin
      Connection.Deadline := Byte_Count'Min
        (Connection.Deadline + Time_For (Bytes, Min_Rate), Self.Now + Limit);
      Note_Progress (Self, Slot, Bytes);
   end Prolong;

   --  Excludes the time of the program itself from the client's time

   procedure Excuse (Self : in out Event_Loop; Slot : Slot_Index; Time : Byte_Count) is
      Connection : Loops.Connection renames Self.Connections (Slot);
   begin
      Connection.Deadline := Connection.Deadline + Time;
      Connection.Since    := Connection.Since + Time;
      Connection.Due      := Connection.Due + Time;
   end Excuse;

   --  Records the bytes that the client has received since the last query

   procedure Note_Taken (Self : in out Event_Loop; Slot : Slot_Index) is
      Connection : Loops.Connection renames Self.Connections (Slot);
      Left       : constant Byte_Count := Byte_Count (Linux.Unsent (Connection.Socket));
   begin
      if Left < Connection.Unsent then
         Prolong (Self, Slot, Connection.Unsent - Left, Limit => Self.For_Sending);
      end if;
      Connection.Unsent := Left;
   end Note_Taken;

   --  Starts to wait for the client to receive bytes

   procedure Begin_Taking (Self : in out Event_Loop; Slot : Slot_Index) is
      Connection : Loops.Connection renames Self.Connections (Slot);
   begin
      Connection.Unsent   := Byte_Count (Linux.Unsent (Connection.Socket));
      Connection.Deadline := Self.Now + Self.For_Sending;
      Connection.Since    := Self.Now;
      Connection.Due      := Self.Now;
   end Begin_Taking;

   --  Called when a client has received everything: waits a short time for the client to close the
   --  connection

   procedure Note_All_Taken (Self : in out Event_Loop; Slot : Slot_Index) is
      Connection : Loops.Connection renames Self.Connections (Slot);
   begin
      if Connection.Unsent = 0 then
         Connection.Deadline := Byte_Count'Min
           (Connection.Deadline,
            Self.Now + (if Self.Is_Stopping then Self.For_Closing else For_Lingering));
      end if;
   end Note_All_Taken;

   --  Returns the event for which a connection waits

   function Awaited_Event (Connection : Loops.Connection) return Linux.Interest is
     (if (Connection.State = Sending) /= Connection.Is_Inverted then Linux.Output
      else Linux.Input);

   procedure Arm (Self : in out Event_Loop; Slot : Slot_Index) is
      Connection : Loops.Connection renames Self.Connections (Slot);
   begin
      Linux.Change
        (Self.Set, Connection.Socket, Awaited_Event (Connection), Linux.Key (Slot));
   end Arm;

   --  Waits until the client has room for more bytes

   procedure Await_Room (Self : in out Event_Loop; Slot : Slot_Index) is
      Connection : Loops.Connection renames Self.Connections (Slot);
   begin
      if Connection.State /= Sending then
         Connection.State := Sending;
         Arm (Self, Slot);
         Begin_Taking (Self, Slot);
      end if;
   end Await_Room;

   --  Closes a connection after everything was sent, but not before the client has received it. If
   --  the client has sent more bytes in the meantime, an earlier close would reset the connection,
   --  and the client would lose the response.

   procedure Finish (Self : in out Event_Loop; Slot : Slot_Index) is
      Connection : Loops.Connection renames Self.Connections (Slot);
      Result     : Transports.Outcome;
   begin
      if Connection.Session /= null then
         Connection.Session.Shut_Down (Result);
         if Result = Transports.Wants_Output then
            --  Another event calls this procedure again
            Await_Room (Self, Slot);
            return;
         end if;
         Drop_Session (Connection);
      end if;
      if Connection.Lingers or else Linux.Unsent (Connection.Socket) > 0 then
         if Connection.State = Sending or else Connection.Is_Inverted then
            Linux.Change (Self.Set, Connection.Socket, Linux.Input, Linux.Key (Slot));
         end if;
         Linux.End_Sending (Connection.Socket);
         Connection.State := Lingering;
         Begin_Taking (Self, Slot);
         Note_All_Taken (Self, Slot);
      else
         Release (Self, Slot);
      end if;
   end Finish;

   --------------
   -- Sessions --
   --------------

   --  A connection with a session receives and sends through it

   procedure Receive_In_Session
     (Self   : in out Event_Loop;
      Slot   : Slot_Index;
      Into   : out String;
      Count  : out Natural;
      Result : out Linux.Outcome)
   is
      Connection : Loops.Connection renames Self.Connections (Slot);
      Outcome    : Transports.Outcome;
      Inverts    : Boolean;
   begin
      Connection.Session.Receive (Into, Count, Outcome);
      Inverts := Outcome = Transports.Wants_Output;
      if Inverts /= Connection.Is_Inverted then
         Connection.Is_Inverted := Inverts;
         Arm (Self, Slot);
      end if;
      Result :=
        (case Outcome is
            when Transports.Done | Transports.Closed                => Linux.Done,
            when Transports.Wants_Input | Transports.Wants_Output   => Linux.Would_Block,
            when Transports.Failed                                  => Linux.Failed);
   end Receive_In_Session;

   pragma No_Inline (Receive_In_Session);

   --  Sends bytes. The caller must wait for Awaited_Event if Result is Would_Block, and then send
   --  the same bytes again.

   procedure Send_In_Session
     (Connection : in out Loops.Connection;
      Bytes      : String;
      Count      : out Natural;
      Result     : out Linux.Outcome)
   is
      Outcome : Transports.Outcome;
   begin
      Connection.Session.Send (Bytes, Count, Outcome);
      Connection.Is_Inverted := Outcome = Transports.Wants_Input;
      Result :=
        (case Outcome is
            when Transports.Done                                    => Linux.Done,
            when Transports.Wants_Input | Transports.Wants_Output   => Linux.Would_Block,
            when Transports.Closed | Transports.Failed              => Linux.Failed);
   end Send_In_Session;

   pragma No_Inline (Send_In_Session);

   procedure Send_Some
     (Connection  : in out Loops.Connection;
      Bytes       : String;
      More_Follow : Boolean;
      Count       : out Natural;
      Result      : out Linux.Outcome) is
   begin
      if Connection.Session = null then
         Linux.Send (Connection.Socket, Bytes, More_Follow, Count, Result);
      else
         Send_In_Session (Connection, Bytes, Count, Result);
      end if;
   end Send_Some;

   --  Returns True if the session has bytes for which there will be no event

   function Has_Pending (Connection : Loops.Connection) return Boolean is
     (Connection.State in Reading | Streaming
      and then Connection.Session /= null
      and then Connection.Session.Has_Pending);

   --------------
   -- Evicting --
   --------------

   --  If one client uses more than half of a resource, its connections are closed first to make
   --  room for others. Behind a proxy, all clients have the same address, so this rule has no
   --  effect.

   type Majority is record
      Is_There : Boolean := False;
      Client   : IP_Addresses.Address := IP_Addresses.No_Address;
   end record;

   function Is_Of (Connection : Loops.Connection; Majority_Holder : Majority) return Boolean is
     (Majority_Holder.Is_There and then Connection.Client = Majority_Holder.Client);

   function Is_Open (Connection : Loops.Connection) return Byte_Count is
     (if Connection.State = Free then 0 else 1);

   --  Returns the number of stored bytes that wait for a client

   function Held (Connection : Loops.Connection) return Byte_Count is
     (if Connection.State in Free | Busy then 0
      else Byte_Count (Blocks.Length (Connection.Input) + Blocks.Length (Connection.Header)
                       + Blocks.Length (Connection.Output)));

   --  The algorithm of R. S. Boyer and J S. Moore, MJRTY, 1991: the candidate of the first pass is
   --  the only client that can have the majority of the weight, and the second pass checks whether
   --  it does

   generic
      with function Weight (Connection : Loops.Connection) return Byte_Count;
   function Majority_By (Self : Event_Loop) return Majority;

   function Majority_By (Self : Event_Loop) return Majority is
      Result   : Majority;
      Lead     : Byte_Count := 0;
      Own, Sum : Byte_Count := 0;
   begin
      for Connection of Self.Connections (1 .. Self.Used) loop
         if Connection.Client = Result.Client then
            Lead := Lead + Weight (Connection);
         elsif Weight (Connection) > Lead then
            Result.Client := Connection.Client;
            Lead := Weight (Connection) - Lead;
         else
            Lead := Lead - Weight (Connection);
         end if;
      end loop;
      for Connection of Self.Connections (1 .. Self.Used) loop
         Sum := Sum + Weight (Connection);
         if Connection.Client = Result.Client then
            Own := Own + Weight (Connection);
         end if;
      end loop;
      Result.Is_There := 2 * Own > Sum;
      return Result;
   end Majority_By;

   function Majority_Of_Slots is new Majority_By (Is_Open);
   function Majority_Of_Memory is new Majority_By (Held);

   --  The classes of connections that may be closed to make room, in the order in which they are
   --  closed

   type Eviction_Class is
     (Idle_Of_Majority, Slow_Of_Majority, Idle_Of_Others, Slow_Of_Others, Nobody);

   type Candidate is record
      Slot  : Slot_Count := 0;
      Class : Eviction_Class := Nobody;
      Order : Long_Long_Integer := 0;
      --  The connections of a class are closed in ascending order
   end record;

   type Candidate_List is array (Positive range <>) of Candidate;

   function Is_Before (Left, Right : Candidate) return Boolean is
     (if Left.Class = Right.Class then Left.Order < Right.Order else Left.Class < Right.Class);

   procedure Insert (List : in out Candidate_List; Item : Candidate) is
      Index : Natural := List'Last;
   begin
      if Is_Before (Item, List (Index)) then
         while Index > List'First and then Is_Before (Item, List (Index - 1)) loop
            List (Index) := List (Index - 1);
            Index := Index - 1;
         end loop;
         List (Index) := Item;
      end if;
   end Insert;

   --  Returns True if a connection is idle: the client has not begun another request, or has
   --  received everything and is about to close the connection

   function Is_Idle (Connection : Loops.Connection) return Boolean is
     (case Connection.State is
         when Reading   => Connection.Awaits = Await_Request,
         when Lingering => Connection.Unsent = 0,
         when others    => False);

   function Class_Of
     (Self : Event_Loop; Connection : Loops.Connection; Majority_Holder : Majority)
      return Eviction_Class
   is
     (if Connection.State in Free | Busy | Streaming then Nobody
      elsif Is_Idle (Connection) then
        (if Connection.Due + Idle_Grace > Self.Now then Nobody
         elsif Is_Of (Connection, Majority_Holder) then Idle_Of_Majority
         else Idle_Of_Others)
      elsif not Is_Slow (Self, Connection) then Nobody
      elsif Is_Of (Connection, Majority_Holder) then Slow_Of_Majority
      else Slow_Of_Others);

   function Order_Of
     (Self : Event_Loop; Connection : Loops.Connection; Class : Eviction_Class)
      return Long_Long_Integer
   is
     (if Class in Slow_Of_Majority | Slow_Of_Others then -Lateness (Self, Connection)
      else Connection.Due);

   --  Finds connections to close. Other clients are spared if the majority client has idle
   --  connections that can be closed soon.

   procedure Find_Candidates (Self : in out Event_Loop; List : in out Candidate_List) is
      Majority_Holder : constant Majority := Majority_Of_Slots (Self);
      Found           : Eviction_Class;
      Is_Fresh        : Boolean := False;
   begin
      for Slot in 1 .. Self.Used loop
         if Self.Connections (Slot).State in Sending | Lingering then
            Note_Taken (Self, Slot);
         end if;
         Found := Class_Of (Self, Self.Connections (Slot), Majority_Holder);
         if Found /= Nobody then
            Insert
              (List, (Slot, Found, Order_Of (Self, Self.Connections (Slot), Found)));
         elsif Is_Of (Self.Connections (Slot), Majority_Holder) then
            Is_Fresh := Is_Fresh or else Is_Idle (Self.Connections (Slot));
         end if;
      end loop;
      if Is_Fresh and then List (List'First).Class in Idle_Of_Others | Slow_Of_Others then
         for Each of List loop
            Each := (others => <>);
         end loop;
      end if;
   end Find_Candidates;

   --  Sends 503 to a client, as far as this is possible without waiting. Then frees the memory of
   --  the connection; further input is read and discarded.

   procedure Turn_Away (Self : in out Event_Loop; Slot : Slot_Index) is
      Connection : Loops.Connection renames Self.Connections (Slot);
      Count      : Natural;
      Result     : Linux.Outcome;
   begin
      Note_Date (Self);
      Send_Some
        (Connection, Contexts.Refusal (Service_Unavailable, Self.Date),
         More_Follow => False, Count => Count, Result => Result);
      if Self.Log /= null then
         Self.Log.Note_Refusal (Connection.Client, Self.Date, Service_Unavailable);
      end if;
      Blocks.Drop (Self.Pool, Connection.Input);
      Drop_Stream (Self, Slot);
      Connection.Lingers := True;
      Finish (Self, Slot);
   end Turn_Away;

   --  Closes a connection to free its slot for others

   procedure Evict (Self : in out Event_Loop; Slot : Slot_Index) is
      Connection : Loops.Connection renames Self.Connections (Slot);
   begin
      if Connection.State = Reading and then Connection.Awaits /= Await_Request then
         Turn_Away (Self, Slot);
         Release (Self, Slot);
      elsif Is_Idle (Connection) then
         Release (Self, Slot);
      else
         Cut (Self, Slot);
      end if;
   end Evict;

   --  Closes idle or slow connections. Among many connections, closes more than one at a time,
   --  since the search takes time. An idle connection whose next request has just arrived stays
   --  open.

   procedure Evict_Some (Self : in out Event_Loop; Count : out Natural) is
      Wanted : constant Positive :=
        Positive'Min (Positive (Self.Slots) / 256 + 1, Max_Evicted);
      List   : Candidate_List (1 .. 2 * Max_Evicted);
      --  The array has room for more than Wanted connections, since some may no longer be idle
   begin
      Count := 0;
      Find_Candidates (Self, List);
      for Each of List loop
         exit when Each.Class = Nobody or else Count = Wanted;
         if Each.Class in Slow_Of_Majority | Slow_Of_Others
           or else not Linux.Has_Input (Self.Connections (Each.Slot).Socket)
         then
            Evict (Self, Each.Slot);
            Count := Count + 1;
         end if;
      end loop;
   end Evict_Some;

   --  Frees waiting memory by evicting the connection that has used the most memory for the longest
   --  time. Bytes is the number of bytes that the connection at Slot needs. If that connection
   --  itself would have to be evicted, Is_Done is False.

   procedure Evict_Holder
     (Self : in out Event_Loop; Slot : Slot_Index; Bytes : Natural; Is_Done : out Boolean)
   is
      Majority_Holder : constant Majority := Majority_Of_Memory (Self);

      function Burden (Connection : Loops.Connection; Bytes : Byte_Count) return Byte_Count is
        (if Bytes = 0 or else not Is_Slow (Self, Connection) then 0
         else (Lateness (Self, Connection) + 1) * Bytes);

      Found : Slot_Count := 0;
      Worst : Byte_Count :=
        Burden (Self.Connections (Slot), Held (Self.Connections (Slot)) + Byte_Count (Bytes));
      Of_Majority : Boolean := Is_Of (Self.Connections (Slot), Majority_Holder);
   begin
      for Other in 1 .. Self.Used loop
         if Self.Connections (Other).State = Sending then
            Note_Taken (Self, Other);
         end if;
         declare
            Connection : Loops.Connection renames Self.Connections (Other);
            Weight     : constant Byte_Count := Burden (Connection, Held (Connection));
            Is_Worse   : constant Boolean    :=
              (if Is_Of (Connection, Majority_Holder) = Of_Majority then Weight > Worst
               else not Of_Majority);
         begin
            if Other /= Slot and then Weight > 0 and then Is_Worse then
               Found       := Other;
               Worst       := Weight;
               Of_Majority := Is_Of (Connection, Majority_Holder);
            end if;
         end;
      end loop;
      Is_Done := Found > 0;
      if Is_Done and then Self.Connections (Found).State = Reading then
         Turn_Away (Self, Found);
      elsif Is_Done then
         Cut (Self, Found);
      end if;
   end Evict_Holder;

   --  Stores data of a connection in the waiting memory

   procedure Keep
     (Self     : in out Event_Loop;
      Slot     : Slot_Index;
      Bytes    : String;
      To       : in out Blocks.Chain;
      Has_Room : out Boolean)
   is
      Is_Done : Boolean := True;
   begin
      loop
         Blocks.Put (Self.Pool, Bytes, To, Has_Room);
         exit when Has_Room or else not Is_Done;
         Evict_Holder (Self, Slot, Bytes'Length, Is_Done);
      end loop;
   end Keep;

   -------------
   -- Sending --
   -------------

   procedure Send_Bytes
     (Connection : in out Loops.Connection;
      Context    : in out Contexts.Context;
      Result     : out Linux.Outcome)
   is
      Count : Natural;
   begin
      Result := Linux.Done;
      while Context.First <= Context.Last loop
         Send_Some
           (Connection, Context.Output (Context.First .. Context.Last),
            More_Follow => Context.Tail.Length > 0 and then Context.Tail.Source = null,
            Count => Count, Result => Result);
         exit when Result /= Linux.Done;
         Context.First := Context.First + Count;
      end loop;
      if Context.First > Context.Last then
         Context.First := 1;
         Context.Last  := 0;
      end if;
   end Send_Bytes;

   procedure Send_Part
     (Connection : in out Loops.Connection;
      Tail       : Contexts.Tail;
      Count      : out Byte_Count;
      Result     : out Linux.Outcome)
   is
      Wanted : constant Byte_Count := Byte_Count'Min (Tail.Length, Max_Sent);
   begin
      if Tail.File /= No_File then
         Linux.Send_File (Connection.Socket, Tail.File, Tail.Offset, Wanted, Count, Result);
      else
         declare
            First : constant Positive := Tail.Text'First + Natural (Tail.Offset);
            Sent  : Natural;
         begin
            Send_Some
              (Connection, Tail.Text (First .. First + Natural (Wanted) - 1),
               More_Follow => False, Count => Sent, Result => Result);
            Count := Byte_Count (Sent);
         end;
      end if;
   end Send_Part;

   procedure Send_Tail
     (Connection : in out Loops.Connection;
      Tail       : in out Contexts.Tail;
      Sent       : out Byte_Count;
      Result     : out Linux.Outcome)
   is
      Count : Byte_Count;
   begin
      Result := Linux.Done;
      Sent   := 0;
      while Tail.Length > 0 loop
         if Sent >= Max_Sent then
            --  Let other connections proceed first; this one continues immediately afterwards
            Result := Linux.Would_Block;
         else
            Send_Part (Connection, Tail, Count, Result);
         end if;
         exit when Result /= Linux.Done;
         Tail.Offset := Tail.Offset + Count;
         Tail.Length := Tail.Length - Count;
         Sent := Sent + Count;
      end loop;
      if Tail.Length = 0 then
         Contexts.Drop (Tail);
      end if;
   end Send_Tail;

   --  Sends a section of a file through a session, which encrypts copies of its bytes. The first of
   --  them go along with the header of the response.

   procedure Send_Encrypted_File
     (Connection : in out Loops.Connection;
      Context    : in out Contexts.Context;
      Sent       : out Byte_Count;
      Result     : out Linux.Outcome)
   is
      Is_Cut : Boolean;
   begin
      Sent := 0;
      loop
         Contexts.Put_File_Piece (Context, Is_Cut);
         Sent := Sent + Byte_Count (Context.Last - Context.First + 1);
         Send_Bytes (Connection, Context, Result);
         exit when Result /= Linux.Done or else Context.Tail.Length = 0;
         if Is_Cut then
            Result := Linux.Failed;
         elsif Sent >= Max_Sent then
            --  Let other connections proceed first; this one continues immediately afterwards
            Result := Linux.Would_Block;
         end if;
         exit when Result /= Linux.Done;
      end loop;
   end Send_Encrypted_File;

   -----------------------
   -- Calls to handlers --
   -----------------------

   --  Between these calls, other tasks may serve the loop

   procedure Begin_Call
     (Self : in out Event_Loop'Class; Slot : Slot_Index; Context : Contexts.Context)
     with Inline is
   begin
      Self.Connections (Slot).State := Busy;
      Self.Leave (Context, Handling);
   end Begin_Call;

   procedure End_Call
     (Self    : in out Event_Loop'Class;
      Slot    : Slot_Index;
      Context : Contexts.Context;
      Before  : Connection_State)
     with Inline
   is
      Connection : Loops.Connection renames Self.Connections (Slot);
   begin
      Self.Come_Back (Context, Handling);
      Connection.State := Before;
      if Connection.Is_Disarmed then
         Connection.Is_Disarmed := False;
         Linux.Add
           (Self.Set, Connection.Socket, Awaited_Event (Connection), Linux.Key (Slot));
      end if;
   end End_Call;

   --  Sends the bytes of a source, as long as the client accepts them. The time that the source
   --  takes does not count as the client's.

   procedure Send_Source
     (Self    : in out Event_Loop'Class;
      Slot    : Slot_Index;
      Context : in out Contexts.Context;
      Result  : out Linux.Outcome)
   is
      Connection : Loops.Connection renames Self.Connections (Slot);
      State      : constant Connection_State := Connection.State;
      Sent       : Byte_Count := 0;
      Began      : Byte_Count;
      Is_Cut     : Boolean;
   begin
      Result := Linux.Done;
      while Result = Linux.Done and then Context.Tail.Source /= null loop
         if Sent >= Max_Sent then
            --  Let other connections proceed first; this one continues immediately afterwards
            Result := Linux.Would_Block;
         else
            Began := Self.Now;
            Begin_Call (Self, Slot, Context);
            Contexts.Put_Piece (Context, Self.Report, Is_Cut);
            End_Call (Self, Slot, Context, State);
            Excuse (Event_Loop (Self), Slot, Self.Now - Began);
            Sent := Sent + Byte_Count (Context.Last - Context.First + 1);
            if Is_Cut then
               Linux.Reset_When_Closed (Connection.Socket);
               Result := Linux.Failed;
            else
               Send_Bytes (Connection, Context, Result);
            end if;
         end if;
      end loop;
      if State = Sending then
         Connection.Unsent := Connection.Unsent + Sent;
      end if;
   end Send_Source;

   --  Sends the output of the context, and then its tail

   procedure Send_With_Tail
     (Self    : in out Event_Loop'Class;
      Slot    : Slot_Index;
      Context : in out Contexts.Context;
      Result  : out Linux.Outcome)
   is
      Connection : Loops.Connection renames Self.Connections (Slot);
      Sent       : Byte_Count;
   begin
      if Context.Tail.File /= No_File and then Connection.Session /= null then
         Send_Encrypted_File (Connection, Context, Sent, Result);
      else
         Send_Bytes (Connection, Context, Result);
         if Result = Linux.Done and then Context.Tail.Source /= null then
            Send_Source (Self, Slot, Context, Result);
         elsif Result = Linux.Done then
            Send_Tail (Connection, Context.Tail, Sent, Result);
            if Connection.State = Sending then
               Connection.Unsent := Connection.Unsent + Sent;
            end if;
         end if;
      end if;
   end Send_With_Tail;

   pragma No_Inline (Send_With_Tail);

   --  Moves output that cannot be sent yet from the context to the connection

   procedure Keep_Output
     (Self    : in out Event_Loop;
      Slot    : Slot_Index;
      Context : in out Contexts.Context;
      Result  : in out Linux.Outcome)
   is
      Connection : Loops.Connection renames Self.Connections (Slot);
      Has_Room   : Boolean;
   begin
      if Connection.State /= Sending then
         Connection.Due := Self.Now;
      end if;
      Keep
        (Self, Slot, Context.Output (Context.First .. Context.Last), Connection.Output, Has_Room);
      if Has_Room then
         if Connection.State = Sending and then Connection.Session /= null then
            --  The number of encrypted bytes is known only to the kernel
            Connection.Unsent := Byte_Count (Linux.Unsent (Connection.Socket));
            Arm (Self, Slot);
         elsif Connection.State = Sending then
            Connection.Unsent :=
              Connection.Unsent - Byte_Count (Context.Last - Context.First + 1);
         end if;
         Connection.Tail := Context.Tail;
         Context.Tail := Contexts.No_Tail;
      else
         Result := Linux.Failed;
      end if;
   end Keep_Output;

   pragma No_Inline (Keep_Output);

   --  Sends the output of the context. Output that cannot be sent yet is moved to the connection.

   procedure Send
     (Self    : in out Event_Loop'Class;
      Slot    : Slot_Index;
      Context : in out Contexts.Context;
      Result  : out Linux.Outcome) is
   begin
      if Context.Tail.Length = 0 then
         Send_Bytes (Self.Connections (Slot), Context, Result);
      else
         Send_With_Tail (Self, Slot, Context, Result);
      end if;
      if Result = Linux.Would_Block then
         Keep_Output (Event_Loop (Self), Slot, Context, Result);
      end if;
      if Result /= Linux.Done then
         Context.First := 1;
         Context.Last  := 0;
         Contexts.Drop (Context.Tail);
      end if;
   end Send;

   --  Continues according to the result of Send

   procedure Conclude (Self : in out Event_Loop; Slot : Slot_Index; Result : Linux.Outcome) is
   begin
      case Result is
         when Linux.Failed =>
            Drop_Session (Self.Connections (Slot));
            Release (Self, Slot);
         when Linux.Would_Block =>
            Await_Room (Self, Slot);
         when Linux.Done =>
            if Self.Connections (Slot).Is_Last then
               Finish (Self, Slot);
            end if;
      end case;
   end Conclude;

   -----------
   -- Input --
   -----------

   procedure Load_Input
     (Self : in out Event_Loop; Slot : Slot_Index; Context : in out Contexts.Context)
   is
      Connection : Loops.Connection renames Self.Connections (Slot);
      Size       : constant Natural := Blocks.Length (Connection.Input);
   begin
      Parsing.Clear (Context.Request);
      if Size > 0 then
         Blocks.Take (Self.Pool, Connection.Input, Context.Request.Bytes (1 .. Size));
         Context.Request.Last  := Size;
         Context.Request.State := Connection.Progress;
      elsif Connection.Receiver /= null then
         Context.Request.State := Connection.Progress;
      end if;
   end Load_Input;

   --  Moves the beginning of a request from the context to the connection, and waits for the rest

   procedure Save_Input
     (Self     : in out Event_Loop;
      Slot     : Slot_Index;
      Context  : in out Contexts.Context;
      Has_Room : out Boolean)
     with Inline
   is
      Connection : Loops.Connection renames Self.Connections (Slot);
      Awaited    : Awaited_Part;
   begin
      if Parsing.Is_Empty (Context.Request) and then Connection.Receiver = null then
         Awaited  := Await_Request;
         Has_Room := True;
      else
         Parsing.Make_Room (Context.Request);
         Connection.Progress := Context.Request.State;
         Awaited :=
           (if Context.Request.State.Step = In_Header then Await_Header else Await_Content);
      end if;
      --  Empty lines before a request do not extend the deadline
      if Awaited > Connection.Awaits then
         Connection.Deadline := Self.Now + Self.Timeouts (Awaited);
         Connection.Since    := Self.Now;
         Connection.Due      := Self.Now;
         Connection.Awaits   := Awaited;
      end if;
      if Awaited > Await_Request then
         Keep
           (Self, Slot, Context.Request.Bytes (1 .. Context.Request.Last), Connection.Input,
            Has_Room);
      end if;
   end Save_Input;

   --------------
   -- Stopping --
   --------------

   --  Begins to stop. Clients that have already begun to connect are served if this does not take
   --  long. The system rejects later clients.

   procedure Begin_To_Stop (Self : in out Event_Loop) is
   begin
      for Each of Self.Listeners (1 .. Self.Listener_Count) loop
         if not Each.Is_Passed then
            Linux.Ignore_New_Connections (Each.Socket);
         end if;
      end loop;
      Self.Is_Stopping  := True;
      Self.Listen_Until := Self.Now + For_Connecting;
      Self.Give_Up      := Self.Clock + Max_Stop;
      Self.Next_Sweep   := Self.Now + Between_Last_Sweeps;
      for Connection of Self.Connections (1 .. Self.Used) loop
         if (Connection.State = Reading and then Connection.Awaits = Await_Request)
           or else Connection.State = Handshaking
         then
            Connection.Deadline :=
              Byte_Count'Min (Connection.Deadline, Self.Now + Self.For_Closing);
         end if;
      end loop;
      for Slot in 1 .. Self.Used loop
         if Self.Connections (Slot).Channel /= null then
            Pushing.Stop (Self, Slot);
         end if;
      end loop;
   end Begin_To_Stop;

   pragma No_Inline (Begin_To_Stop);

   --  Called between any two requests, since a handler may take a long time

   procedure Note_Stop (Self : in out Event_Loop) is
   begin
      if Self.Is_Stopping then
         Note_Time (Self);
      elsif Self.Must_Stop then
         Note_Time (Self);
         Begin_To_Stop (Self);
      end if;
   end Note_Stop;

   --  Returns True if the grace period for clients is over, by the system's clock

   function Gives_Up (Self : Event_Loop) return Boolean is
     (Self.Is_Stopping and then Self.Clock >= Self.Give_Up);

   ----------------
   -- Responding --
   ----------------

   procedure Read_Some
     (Self   : in out Event_Loop;
      Slot   : Slot_Index;
      Into   : out String;
      Count  : out Natural;
      Result : out Linux.Outcome) is
   begin
      if Self.Connections (Slot).Session = null then
         Linux.Receive (Self.Connections (Slot).Socket, Into, Count, Result);
      else
         Receive_In_Session (Self, Slot, Into, Count, Result);
      end if;
   end Read_Some;

   --  Decides whether the request in the context is the last request of its connection. While other
   --  clients wait for room, the request is the last one, unless the client has already sent
   --  another request. A server that is stopping still responds to requests that were sent earlier,
   --  which follow in the context or can be read, but only for a limited time.

   procedure Judge_Last
     (Self : in out Event_Loop'Class; Slot : Slot_Index; Context : in out Contexts.Context)
     with Inline
   is
      Connection : Loops.Connection renames Self.Connections (Slot);
      Request    : HTTP.Request renames Context.Request;
      Count      : Natural;
      Result     : Linux.Outcome;
   begin
      Note_Stop (Event_Loop (Self));
      Connection.Is_Last := Parsing.Is_Last (Request)
        or else (Self.Is_Crowded and then Request.Last = Request.State.Content_Last)
        or else Gives_Up (Event_Loop (Self));
      if Self.Is_Stopping
        and then not Connection.Is_Last
        and then Request.Last = Request.State.Content_Last
        and then Request.Last < Request.Capacity
      then
         Read_Some
           (Event_Loop (Self), Slot, Request.Bytes (Request.Last + 1 .. Request.Capacity), Count,
            Result);
         Request.Last := Request.Last + Count;
         Connection.Is_Last := Count = 0;
      end if;
   end Judge_Last;

   --  Adds the latest response to the log. Began is the start time of the handler, in ns.

   procedure Note_Response
     (Self : in out Event_Loop'Class; Context : Contexts.Context; Began : Byte_Count := 0)
     with Inline is
   begin
      if Self.Log /= null then
         Self.Log.Note
           (Context.Request, Self.Date, Context.Status,
            Bytes        => (if Context.Request.Is_Head then 0 else Context.Length),
            Microseconds => (if Began = 0 then 0 else (Linux.Nanoseconds - Began) / 1_000));
      end if;
   end Note_Response;

   --  Calls the handler. Other tasks may serve the loop in the meantime.

   procedure Ask_Handler
     (Self : in out Event_Loop'Class; Slot : Slot_Index; Context : in out Contexts.Context)
     with Inline
   is
      Connection : Loops.Connection renames Self.Connections (Slot);
      Began      : constant Byte_Count := (if Self.Log = null then 0 else Linux.Nanoseconds);
   begin
      Begin_Call (Self, Slot, Context);
      declare
         Response : constant HTTP.Response := Contexts.Handler_Response
           (Handler (Self.Handle), Self.Service, Connection.Receiver, Context, Self.Report);
      begin
         Contexts.Close (Connection.Receiver);
         End_Call (Self, Slot, Context, Reading);
         Note_Date (Event_Loop (Self));
         if Response.Kind = Channel_Bytes then
            Pushing.Open_Channel (Self, Slot, Context, Response, Began);
            return;
         end if;
         Judge_Last (Self, Slot, Context);
         if Contexts.Ends_With_Connection (Context, Response) then
            Connection.Is_Last := True;
         end if;
         Contexts.Put_Response (Context, Response, Self.Date, Connection.Is_Last);
         Note_Response (Self, Context, Began);
      end;
   end Ask_Handler;

   procedure Respond
     (Self : in out Event_Loop'Class; Slot : Slot_Index; Context : in out Contexts.Context)
   is
      Connection : Loops.Connection renames Self.Connections (Slot);
   begin
      Connection.Awaits := Await_None;
      Context.Request.Client  := Connection.Client;
      Context.Request.Session := Connection.Session;
      if Parsing.Is_For_Server (Context.Request) then
         Note_Date (Event_Loop (Self));
         Judge_Last (Self, Slot, Context);
         Contexts.Put_Server_Response (Context, Self.Date, Connection.Is_Last);
         Note_Response (Self, Context);
      else
         Ask_Handler (Self, Slot, Context);
      end if;
   end Respond;

   procedure Refuse
     (Self    : in out Event_Loop;
      Slot    : Slot_Index;
      Context : in out Contexts.Context;
      Status  : Status_Code)
   is
      Connection : Loops.Connection renames Self.Connections (Slot);
   begin
      Blocks.Drop (Self.Pool, Connection.Input);
      Drop_Stream (Self, Slot);
      Note_Date (Self);
      Contexts.Put_Refusal (Context, Status, Self.Date);
      if Self.Log /= null then
         Self.Log.Note_Refusal (Connection.Client, Self.Date, Status);
      end if;
      Connection.Is_Last := True;
      Connection.Lingers := True;
   end Refuse;

   procedure Refuse_And_Finish
     (Self    : in out Event_Loop'Class;
      Slot    : Slot_Index;
      Context : in out Contexts.Context;
      Status  : Status_Code)
   is
      Result : Linux.Outcome;
   begin
      Refuse (Event_Loop (Self), Slot, Context, Status);
      Send (Self, Slot, Context, Result);
      Conclude (Event_Loop (Self), Slot, Result);
   end Refuse_And_Finish;

   -------------
   -- Streams --
   -------------

   --  Responds to the request in the context without reading its content

   procedure Respond_Unread
     (Self     : in out Event_Loop'Class;
      Slot     : Slot_Index;
      Context  : in out Contexts.Context;
      Response : HTTP.Response)
   is
      Connection : Loops.Connection renames Self.Connections (Slot);
   begin
      Note_Date (Event_Loop (Self));
      Connection.Awaits  := Await_None;
      Connection.Is_Last := True;
      Connection.Lingers := True;
      Contexts.Put_Response (Context, Response, Self.Date, Closes => True);
      Note_Response (Self, Context);
   end Respond_Unread;

   procedure Begin_Stream
     (Self    : in out Event_Loop'Class;
      Slot    : Slot_Index;
      Context : in out Contexts.Context;
      Policy  : Services.Content_Policy;
      Goes_On : out Boolean)
   is
      Connection : Loops.Connection renames Self.Connections (Slot);
      Request    : HTTP.Request renames Context.Request;
   begin
      if Parsing.Announced (Request) > Services.Limit_Of (Policy) then
         Goes_On := False;
         Refuse (Event_Loop (Self), Slot, Context, Content_Too_Large);
      else
         Connection.Due := Self.Now;
         Keep
           (Event_Loop (Self), Slot, Request.Bytes (Request.First .. Request.State.Header_Last),
            Connection.Header, Has_Room => Goes_On);
         if not Goes_On then
            Refuse (Event_Loop (Self), Slot, Context, Service_Unavailable);
         else
            if Parsing.Wants_Continue (Request) then
               Contexts.Put_Continue (Context);
               Parsing.Note_Continue (Request);
            end if;
            Parsing.Begin_Stream (Request, Services.Limit_Of (Policy));
         end if;
      end if;
   end Begin_Stream;

   --  Gets the service's policy for the content of the request in the context

   procedure Choose_Policy
     (Self    : in out Event_Loop'Class;
      Slot    : Slot_Index;
      Context : in out Contexts.Context;
      Goes_On : out Boolean)
   is
      Connection : Loops.Connection renames Self.Connections (Slot);
   begin
      Context.Request.Client  := Connection.Client;
      Context.Request.Session := Connection.Session;
      Begin_Call (Self, Slot, Context);
      declare
         Policy : constant Services.Content_Policy :=
           Contexts.Policy_Of (Self.Service, Context, Self.Report);
      begin
         Connection.Receiver := Services.Receiver_Of (Policy);
         End_Call (Self, Slot, Context, Reading);
         case Services.Kind_Of (Policy) is
            when Services.Buffer =>
               Parsing.Note_Buffered (Context.Request, Services.Limit_Of (Policy));
               Context.Request.State.Passed := Filter_Marks (Services.Passed_By (Policy));
               Goes_On := True;
            when Services.Stream =>
               Begin_Stream (Self, Slot, Context, Policy, Goes_On);
            when Services.Reject =>
               Respond_Unread (Self, Slot, Context, Services.Response_Of (Policy));
               Goes_On := False;
         end case;
      end;
   end Choose_Policy;

   procedure Deliver
     (Self    : in out Event_Loop'Class;
      Slot    : Slot_Index;
      Context : in out Contexts.Context;
      Result  : out Contexts.Delivery)
   is
      Connection : Loops.Connection renames Self.Connections (Slot);
      Began      : constant Byte_Count := Self.Now;
      Before     : constant Byte_Count := Context.Request.State.Delivered;
   begin
      Begin_Call (Self, Slot, Context);
      Contexts.Deliver (Context, Connection.Receiver, Self.Report, Result);
      End_Call (Self, Slot, Context, Reading);
      Excuse (Event_Loop (Self), Slot, Self.Now - Began);
      Prolong
        (Event_Loop (Self), Slot, Context.Request.State.Delivered - Before,
         Limit => Self.Timeouts (Await_Content));
   end Deliver;

   --  Responds to a request whose receiver accepts no more content

   procedure Respond_To_Stream
     (Self     : in out Event_Loop'Class;
      Slot     : Slot_Index;
      Context  : in out Contexts.Context;
      Is_Whole : Boolean;
      Goes_On  : out Boolean)
   is
      Connection : Loops.Connection renames Self.Connections (Slot);
      Request    : HTTP.Request renames Context.Request;
      Size       : constant Natural := Blocks.Length (Connection.Header);
      Result     : Parsing.Outcome;
      Status     : Status_Code;
   begin
      Parsing.End_Stream (Request, Header_Length => Size);
      Blocks.Take (Self.Pool, Connection.Header, Request.Bytes (1 .. Size));
      Parsing.Parse (Request, Self.Limits, Result, Status);
      pragma Assert (Result = Parsing.Complete);
      Request.Is_Last := Request.Is_Last or else not Is_Whole;
      Respond (Self, Slot, Context);
      Parsing.Next (Request);
      Goes_On := not Connection.Is_Last and then not Parsing.Is_Empty (Request);
      Connection.Lingers :=
        Connection.Is_Last and then (not Is_Whole or else not Parsing.Is_Empty (Request));
   end Respond_To_Stream;

   procedure Receive_Some
     (Self    : in out Event_Loop'Class;
      Slot    : Slot_Index;
      Context : in out Contexts.Context;
      Goes_On : out Boolean)
   is
      use type Contexts.Delivery;

      Result    : Parsing.Outcome;
      Status    : Status_Code;
      Delivered : Contexts.Delivery := Contexts.Is_Wanted;
   begin
      Goes_On := False;
      Parsing.Parse_Stream (Context.Request, Result, Status);
      if Result = Parsing.Refused then
         Refuse (Event_Loop (Self), Slot, Context, Status);
         return;
      end if;
      if Parsing.Streamed_Last (Context.Request) > 0 then
         Deliver (Self, Slot, Context, Delivered);
      end if;
      if Delivered = Contexts.Has_Failed then
         Refuse (Event_Loop (Self), Slot, Context, Internal_Error);
      elsif Result = Parsing.Complete or else Delivered = Contexts.Is_Enough then
         Respond_To_Stream
           (Self, Slot, Context, Is_Whole => Result = Parsing.Complete, Goes_On => Goes_On);
      end if;
   end Receive_Some;

   --  Responds to the complete requests in the context, as long as there is room for responses.
   --  Sets Goes_On to False if there is nothing more to do.

   procedure Respond_To_Some
     (Self    : in out Event_Loop'Class;
      Slot    : Slot_Index;
      Context : in out Contexts.Context;
      Goes_On : out Boolean)
     with Inline
   is
      Connection : Loops.Connection renames Self.Connections (Slot);
      Result     : Parsing.Outcome;
      Status     : Status_Code;
   begin
      Goes_On := True;
      while Goes_On and then Contexts.Has_Room (Context) loop
         if Connection.Receiver /= null then
            Receive_Some (Self, Slot, Context, Goes_On);
         else
            Parsing.Parse (Context.Request, Self.Limits, Result, Status, Asks => Self.Plans);
            case Result is
               when Parsing.Complete =>
                  Respond (Self, Slot, Context);
                  Parsing.Next (Context.Request);
                  Goes_On :=
                    not Connection.Is_Last and then not Parsing.Is_Empty (Context.Request);
                  Connection.Lingers :=
                    Connection.Is_Last and then not Parsing.Is_Empty (Context.Request);
               when Parsing.Has_Header =>
                  Choose_Policy (Self, Slot, Context, Goes_On);
               when Parsing.Refused =>
                  Refuse (Event_Loop (Self), Slot, Context, Status);
                  Goes_On := False;
               when Parsing.Incomplete =>
                  if Parsing.Wants_Continue (Context.Request) then
                     Contexts.Put_Continue (Context);
                     Parsing.Note_Continue (Context.Request);
                  end if;
                  Goes_On := False;
            end case;
         end if;
      end loop;
   end Respond_To_Some;

   --  Responds to all requests in the context, sends the responses, and clears the context

   procedure Respond_To_All
     (Self : in out Event_Loop'Class; Slot : Slot_Index; Context : in out Contexts.Context)
   is
      Connection : Loops.Connection renames Self.Connections (Slot);
      Goes_On    : Boolean;
      Has_Room   : Boolean       := True;
      Result     : Linux.Outcome := Linux.Done;
   begin
      loop
         Respond_To_Some (Self, Slot, Context, Goes_On);
         if Contexts.Has_Output (Context) then
            Send (Self, Slot, Context, Result);
         end if;
         exit when not Goes_On or else Result /= Linux.Done;
      end loop;
      if Connection.Channel /= null then
         Pushing.Begin_Channel (Self, Slot, Context, Result);
         return;
      end if;
      if Result /= Linux.Failed and then not Connection.Is_Last then
         Save_Input (Event_Loop (Self), Slot, Context, Has_Room);
      end if;
      if not Has_Room and then Result = Linux.Would_Block then
         Connection.Refusal_Is_Due := True;
         Await_Room (Event_Loop (Self), Slot);
      elsif not Has_Room then
         Refuse_And_Finish (Self, Slot, Context, Service_Unavailable);
      else
         Conclude (Event_Loop (Self), Slot, Result);
      end if;
   end Respond_To_All;

   --  Returns the number of bytes that must arrive before incomplete content can be processed
   --  further

   function Missing_Content (Progress : HTTP.Progress; Size : Natural) return Natural is
     (case Progress.Step is
         when In_Content => Progress.Header_Last + Natural (Progress.Remaining) - Size,
         when In_Chunk   => Natural (Progress.Remaining),
         when others     => 0);

   --  Appends content that is still incomplete to the stored content, without moving the stored
   --  content

   procedure Add_Content
     (Self     : in out Event_Loop;
      Slot     : Slot_Index;
      Bytes    : String;
      Has_Room : out Boolean)
   is
      Connection : Loops.Connection renames Self.Connections (Slot);
   begin
      Keep (Self, Slot, Bytes, Connection.Input, Has_Room);
      if Connection.Progress.Step = In_Chunk then
         Connection.Progress.Remaining    :=
           Connection.Progress.Remaining - Byte_Count (Bytes'Length);
         Connection.Progress.Content_Last := Connection.Progress.Content_Last + Bytes'Length;
      end if;
   end Add_Content;

   --  Records the arrival of more bytes of a request. Only content extends the deadline: a header
   --  has a fixed time limit.

   procedure Note_Arrival (Self : in out Event_Loop; Slot : Slot_Index; Bytes : Byte_Count) is
   begin
      if Self.Connections (Slot).Awaits = Await_Content then
         Prolong (Self, Slot, Bytes, Limit => Self.Timeouts (Await_Content));
      else
         Note_Progress (Self, Slot, Bytes);
      end if;
   end Note_Arrival;

   --  If Is_Urgent is True and there is nothing to read, the connection is closed

   procedure Read
     (Self      : in out Event_Loop'Class;
      Slot      : Slot_Index;
      Context   : in out Contexts.Context;
      Is_Urgent : Boolean := False)
   is
      Connection : Loops.Connection renames Self.Connections (Slot);
      Request    : HTTP.Request renames Context.Request;
      Before     : constant Natural := Blocks.Length (Connection.Input);
      Max        : constant Natural := Request.Capacity - Blocks.Length (Connection.Header);
      --  Reserves room for a header that was removed, and that is restored at the end
      Count      : Natural;
      Result     : Linux.Outcome;
      Has_Room   : Boolean := True;
   begin
      if Connection.Session = null then
         Linux.Receive (Connection.Socket, Request.Bytes (Before + 1 .. Max), Count, Result);
      else
         Receive_In_Session
           (Event_Loop (Self), Slot, Request.Bytes (Before + 1 .. Max), Count, Result);
      end if;
      if Before > 0 and then Connection.Receiver = null then
         Note_Arrival (Event_Loop (Self), Slot, Byte_Count (Count));
      end if;
      if Result = Linux.Done
        and then Before > 0
        and then Connection.Receiver = null
        and then Count in 1 .. Missing_Content (Connection.Progress, Before) - 1
      then
         Add_Content
           (Event_Loop (Self), Slot, Request.Bytes (Before + 1 .. Before + Count), Has_Room);
         if not Has_Room then
            Refuse_And_Finish (Self, Slot, Context, Service_Unavailable);
         end if;
      elsif Result = Linux.Done and then Count > 0 then
         Load_Input (Event_Loop (Self), Slot, Context);
         Request.Last := Before + Count;
         Respond_To_All (Self, Slot, Context);
      elsif Result /= Linux.Would_Block or else Is_Urgent then
         Release (Event_Loop (Self), Slot);
      end if;
   end Read;

   --  Reads the bytes that a session has already received, for which there will be no event

   procedure Read_Pending
     (Self : in out Event_Loop'Class; Slot : Slot_Index; Context : in out Contexts.Context) is
   begin
      while Has_Pending (Self.Connections (Slot)) loop
         if Self.Connections (Slot).State = Streaming then
            Pushing.Read (Self, Slot, Context);
         else
            Read (Self, Slot, Context);
         end if;
      end loop;
   end Read_Pending;

   pragma No_Inline (Read_Pending);

   ----------------
   -- Handshakes --
   ----------------

   --  Responds to a client that does not encrypt its request

   procedure Refuse_Plain
     (Self : in out Event_Loop; Slot : Slot_Index)
   is
      Connection : Loops.Connection renames Self.Connections (Slot);
      Count      : Natural;
      Result     : Linux.Outcome;
   begin
      Note_Date (Self);
      Linux.Send
        (Connection.Socket, Contexts.Refusal (Bad_Request, Self.Date), More_Follow => False,
         Count => Count, Result => Result);
      if Self.Log /= null then
         Self.Log.Note_Refusal (Connection.Client, Self.Date, Bad_Request);
      end if;
   end Refuse_Plain;

   --  Continues a handshake. After a failure, the client must have the opportunity to read the
   --  reason before the connection is closed.

   procedure Shake_Hands
     (Self : in out Event_Loop'Class; Slot : Slot_Index; Context : in out Contexts.Context)
   is
      Connection : Loops.Connection renames Self.Connections (Slot);
      Result     : Transports.Outcome;
      Inverts    : Boolean;
   begin
      Connection.Session.Handshake (Result);
      Inverts := Result = Transports.Wants_Output;
      if Inverts /= Connection.Is_Inverted then
         Connection.Is_Inverted := Inverts;
         Arm (Event_Loop (Self), Slot);
      end if;
      case Result is
         when Transports.Wants_Input | Transports.Wants_Output =>
            null;
         when Transports.Done =>
            Await_First_Request (Event_Loop (Self), Connection);
            Read_Pending (Self, Slot, Context);
         when Transports.Closed =>
            Release (Event_Loop (Self), Slot);
         when Transports.Failed =>
            if Connection.Session.Is_Plain_HTTP then
               Refuse_Plain (Event_Loop (Self), Slot);
            end if;
            Drop_Session (Connection);
            Connection.Lingers := True;
            Finish (Event_Loop (Self), Slot);
      end case;
   end Shake_Hands;

   pragma No_Inline (Shake_Hands);

   --  Responds to the requests that were queued while a response was sent. The time limit for
   --  sending is not restarted for a client that also reads these responses slowly.

   procedure Respond_To_Waiting
     (Self : in out Event_Loop'Class; Slot : Slot_Index; Context : in out Contexts.Context)
   is
      Connection : Loops.Connection renames Self.Connections (Slot);
      Began      : constant Byte_Count := Self.Now;
      Deadline, Since, Due : Byte_Count;
   begin
      Note_Taken (Event_Loop (Self), Slot);
      Deadline := Connection.Deadline;
      Since    := Connection.Since;
      Due      := Connection.Due;
      Load_Input (Event_Loop (Self), Slot, Context);
      Respond_To_All (Self, Slot, Context);
      if Connection.State = Sending then
         Connection.Deadline := Deadline;
         Connection.Since    := Since;
         Connection.Due      := Due;
         Excuse (Event_Loop (Self), Slot, Self.Now - Began);
      end if;
   end Respond_To_Waiting;

   procedure Go_On_Sending
     (Self : in out Event_Loop'Class; Slot : Slot_Index; Context : in out Contexts.Context)
   is
      Connection : Loops.Connection renames Self.Connections (Slot);
      Result     : Linux.Outcome;
   begin
      Context.First := 1;
      Context.Last  := Blocks.Length (Connection.Output);
      Connection.Unsent := Connection.Unsent + Byte_Count (Context.Last);
      Blocks.Take (Self.Pool, Connection.Output, Context.Output (1 .. Context.Last));
      if Connection.Session /= null then
         Note_Taken (Event_Loop (Self), Slot);
      end if;
      Context.Tail := Connection.Tail;
      Connection.Tail := Contexts.No_Tail;
      Send (Self, Slot, Context, Result);
      if Result /= Linux.Done or else Connection.Is_Last then
         Conclude (Event_Loop (Self), Slot, Result);
      elsif Connection.Refusal_Is_Due then
         Connection.Refusal_Is_Due := False;
         Refuse_And_Finish (Self, Slot, Context, Service_Unavailable);
      elsif Connection.Channel /= null then
         Pushing.Go_On (Self, Slot, Context);
         Read_Pending (Self, Slot, Context);
      else
         Connection.State       := Reading;
         Connection.Is_Inverted := False;
         Linux.Change (Self.Set, Connection.Socket, Linux.Input, Linux.Key (Slot));
         Respond_To_Waiting (Self, Slot, Context);
         Read_Pending (Self, Slot, Context);
      end if;
   end Go_On_Sending;

   procedure Linger
     (Self : in out Event_Loop; Slot : Slot_Index; Context : in out Contexts.Context)
   is
      Count  : Natural;
      Result : Linux.Outcome;
   begin
      Linux.Receive (Self.Connections (Slot).Socket, Context.Output, Count, Result);
      if Result = Linux.Failed or else (Result = Linux.Done and then Count = 0) then
         Release (Self, Slot);
      end if;
   end Linger;

   ---------------
   -- Listening --
   ---------------

   procedure Place
     (Self      : in out Event_Loop;
      Context   : Contexts.Context;
      Socket    : Descriptor;
      Client    : IP_Addresses.Address;
      Transport : Transports.Transport_Reference)
   is
      pragma Unreferenced (Context);
   begin
      Self.Adopt (Socket, Client, Transport);
   end Place;

   procedure Offer (Self : in out Event_Loop; Is_Taken : out Boolean) is
      pragma Unreferenced (Self);
   begin
      Is_Taken := False;
   end Offer;

   --  Pauses listening until there is room, or for a short time

   procedure Pause_For_Room (Self : in out Event_Loop) is
   begin
      Pause_Listening (Self);
      Self.Is_Paused  := True;
      Self.Next_Sweep := Byte_Count'Min (Self.Next_Sweep, Self.Now + Between_Attempts);
   end Pause_For_Room;

   --  Makes room for a client that waits to be accepted. If no connection can be closed, the client
   --  waits until there is room.

   procedure Make_Room (Self : in out Event_Loop) is
      Count : Natural;
   begin
      Evict_Some (Self, Count);
      Self.Is_Crowded := True;
      if Count = 0 then
         Pause_For_Room (Self);
      end if;
   end Make_Room;

   --  Finds a slot for a client. Another loop may already have accepted the client of this event.

   procedure Find_Slot (Self : in out Event_Loop'Class; Listener : Descriptor) is
      Is_Taken : Boolean;
   begin
      Self.Offer (Is_Taken);
      if Is_Taken then
         Pause_For_Room (Event_Loop (Self));
      elsif Linux.Has_Client (Listener) then
         Make_Room (Event_Loop (Self));
      end if;
   end Find_Slot;

   --  Accepts clients. When the last slot has been used, it is unknown whether another client is
   --  waiting. If another client is waiting, there will be another event.

   procedure Accept_Some
     (Self     : in out Event_Loop'Class;
      Context  : Contexts.Context;
      Listener : Positive;
      Max      : Positive := Max_Accepted)
   is
      Socket : Descriptor;
      Client : IP_Addresses.Address;
      Result : Linux.Outcome;
   begin
      if Listener <= Self.Listener_Count and then not Has_Free_Slot (Event_Loop (Self)) then
         Find_Slot (Self, Self.Listeners (Listener).Socket);
      end if;
      for K in 1 .. Max loop
         --  Another task may end listening while a connection is assigned to a loop
         exit when Listener > Self.Listener_Count or else not Has_Free_Slot (Event_Loop (Self));
         Linux.Accept_Connection (Self.Listeners (Listener).Socket, Socket, Client, Result);
         if Result = Linux.Failed then
            Make_Room (Event_Loop (Self));
         end if;
         exit when Result /= Linux.Done;
         Self.Place (Context, Socket, Client, Self.Listeners (Listener).Transport);
      end loop;
   end Accept_Some;

   procedure Accept_From_All (Self : in out Event_Loop'Class; Context : Contexts.Context) is
   begin
      for Listener in Self.Listeners'Range loop
         exit when not Self.Is_Listening or else not Has_Free_Slot (Event_Loop (Self));
         Accept_Some (Self, Context, Listener);
      end loop;
   end Accept_From_All;

   pragma No_Inline (Accept_From_All);

   procedure Close_Listeners (Self : in out Event_Loop) is
   begin
      for Each of Self.Listeners (1 .. Self.Listener_Count) loop
         Linux.Close (Each.Socket);
      end loop;
      Self.Listener_Count := 0;
   end Close_Listeners;

   --  Stops listening. While a connection is assigned to a loop, another task may serve this loop
   --  and also call this procedure: only the first task accepts and closes.

   procedure End_Listening (Self : in out Event_Loop'Class; Context : Contexts.Context) is
      Is_Last : Boolean := False;
   begin
      Self.Listen_Until := Byte_Count'Last;
      Self.Stop_Listening (Is_Last);
      if Is_Last then
         for Listener in 1 .. Self.Listener_Count loop
            if not Self.Listeners (Listener).Is_Passed then
               Accept_Some (Self, Context, Listener, Max => Positive'Last);
            end if;
         end loop;
         Close_Listeners (Event_Loop (Self));
      end if;
      Self.Listener_Count := 0;
   exception
      when others =>
         if Is_Last then
            Close_Listeners (Event_Loop (Self));
         end if;
         Self.Listener_Count := 0;
         raise;
   end End_Listening;

   pragma No_Inline (End_Listening);

   --------------
   -- Sweeping --
   --------------

   --  Handles an unexpected exception by closing one connection. Was_Busy means that a handler of
   --  another task is using the connection.

   procedure Drop_Failed
     (Self     : in out Event_Loop;
      Slot     : Slot_Index;
      Context  : in out Contexts.Context;
      Was_Busy : Boolean;
      Error    : Ada.Exceptions.Exception_Occurrence) is
   begin
      Context.Builder.Clear;
      Contexts.Drop (Context.Tail);
      Context.First := 1;
      Context.Last  := 0;
      if not Was_Busy and then Self.Connections (Slot).State /= Free then
         Release (Self, Slot);
      end if;
      Contexts.Pass_On (Self.Report, Error);
   end Drop_Failed;

   --  Handles the timeout of a client

   procedure Time_Out
     (Self : in out Event_Loop'Class; Slot : Slot_Index; Context : in out Contexts.Context)
   is
      Connection : Loops.Connection renames Self.Connections (Slot);
   begin
      if Connection.State = Streaming then
         Pushing.Time_Out (Self, Slot, Context);
      elsif Connection.State = Reading and then Connection.Awaits = Await_Request then
         Read (Self, Slot, Context, Is_Urgent => True);
      elsif Connection.State = Reading then
         Refuse_And_Finish (Self, Slot, Context, Request_Timeout);
      elsif Connection.State = Lingering and then Connection.Unsent = 0 then
         Release (Event_Loop (Self), Slot);
      else
         Cut (Event_Loop (Self), Slot);
      end if;
   exception
      when Error : others =>
         Drop_Failed (Event_Loop (Self), Slot, Context, Was_Busy => False, Error => Error);
   end Time_Out;

   procedure Sweep (Self : in out Event_Loop'Class; Context : in out Contexts.Context) is
   begin
      for Slot in 1 .. Self.Used loop
         if Self.Connections (Slot).State in Sending | Lingering then
            Note_Taken (Event_Loop (Self), Slot);
            if Self.Connections (Slot).State = Lingering then
               Note_All_Taken (Event_Loop (Self), Slot);
            end if;
         end if;
         if Self.Connections (Slot).State not in Free | Busy then
            if Gives_Up (Event_Loop (Self)) then
               Release (Event_Loop (Self), Slot);
            elsif Self.Connections (Slot).Deadline <= Self.Now then
               Time_Out (Self, Slot, Context);
            end if;
         end if;
      end loop;
      if Self.Is_Stopping then
         if Self.Listener_Count > 0 and then Self.Now >= Self.Listen_Until then
            End_Listening (Self, Context);
         end if;
      else
         Listen (Event_Loop (Self));
      end if;
      Self.Next_Sweep :=
        Self.Now + (if Self.Is_Stopping then Between_Last_Sweeps else Between_Sweeps);
   end Sweep;

   package body Pushing is separate;

   -------------
   -- Serving --
   -------------

   procedure Take_Event
     (Self : in out Event_Loop'Class; Slot : Slot_Index; Context : in out Contexts.Context)
   is
      Connection : Loops.Connection renames Self.Connections (Slot);
      Was_Busy   : constant Boolean := Connection.State = Busy;
   begin
      if Gives_Up (Event_Loop (Self)) and then Connection.State not in Free | Busy then
         Release (Event_Loop (Self), Slot);
      end if;
      case Connection.State is
         when Free =>
            null;
         when Busy =>
            Linux.Remove (Self.Set, Connection.Socket);
            Connection.Is_Disarmed := True;
         when Handshaking =>
            Shake_Hands (Self, Slot, Context);
         when Reading =>
            Read (Self, Slot, Context);
            if Connection.Session /= null then
               Read_Pending (Self, Slot, Context);
            end if;
         when Sending =>
            Go_On_Sending (Self, Slot, Context);
         when Streaming =>
            Pushing.Read (Self, Slot, Context);
            if Connection.Session /= null then
               Read_Pending (Self, Slot, Context);
            end if;
         when Lingering =>
            Linger (Event_Loop (Self), Slot, Context);
      end case;
   exception
      when Error : others =>
         Drop_Failed (Event_Loop (Self), Slot, Context, Was_Busy, Error);
   end Take_Event;

   procedure Take_Next (Self : in out Event_Loop'Class; Context : in out Contexts.Context) is
      Key : constant Linux.Key := Linux.Key_Of (Self.Events, Self.Next_Event);
   begin
      Self.Next_Event := Self.Next_Event + 1;
      case Key is
         when First_Listener .. Last_Listener =>
            Accept_Some (Self, Context, Listener => 1 + Natural (Key - First_Listener));
         when Wake_Key =>
            --  While the ready list has channels, a task that waits for more than one loop must see
            --  that this loop has work
            if not Channel_Cores.Has_Some (Self.Ready) then
               Linux.Reset (Self.Wake_Event);
               if Channel_Cores.Has_Some (Self.Ready) then
                  Self.Wake;
               end if;
            end if;
            --  Another loop may have no room for a client that waits to be accepted. This loop does
            --  not close a connection for such a client: the client may have disconnected, and
            --  otherwise the listener has an event.
            Accept_From_All (Self, Context);
         when Watched_Key =>
            Self.Has_Input := True;
         when others =>
            Take_Event (Self, Slot_Index (Key), Context);
      end case;
   end Take_Next;

   procedure Wait (Self : in out Event_Loop'Class; Context : Contexts.Context) is
      Time : Integer :=
        (if Self.Count = 0 and then Self.Is_Listening and then not Self.Is_Stopping
         then Linux.Forever
         else Integer (Byte_Count'Max (Self.Next_Sweep - Self.Now, 1)));
      Is_Empty : Boolean := True;
   begin
      if Self.Writes_Log then
         Self.Log.Write_Out (Is_Empty);
         if not Is_Empty then
            Time := (if Time = Linux.Forever then Between_Writes
                     else Integer'Min (Time, Between_Writes));
         end if;
      end if;
      Self.Leave (Context, Waiting);
      begin
         Self.Wait_Anywhere (Context, Time);
         Linux.Wait (Self.Set, Self.Events, Time, Self.Event_Count);
      exception
         when others =>
            Self.Event_Count := 0;
            Self.Come_Back (Context, Waiting);
            raise;
      end;
      Self.Come_Back (Context, Waiting);
      Self.Next_Event := 1;
      Note_Time (Event_Loop (Self));
   end Wait;

   --  Processes events before timeouts, since an event may be from a client whose time is over. A
   --  loop that is stopping also checks the time between events.

   procedure Take_Turn
     (Self : in out Event_Loop'Class; Context : in out Contexts.Context; Ends : out Boolean)
   is
      function Has_Events return Boolean is (Self.Next_Event <= Self.Event_Count);

      Has_Ready : Boolean;
   begin
      Ends := False;
      Note_Stop (Event_Loop (Self));
      if Self.Now >= Self.Next_Sweep and then (Self.Is_Stopping or else not Has_Events) then
         Sweep (Self, Context);
      end if;
      Has_Ready := Channel_Cores.Has_Some (Self.Ready);
      if Has_Ready then
         Pushing.Serve_Next (Self, Context);
      end if;
      if not Self.Is_Served (Context) then
         --  Another task has continued the loop during the call of a handler
         Ends := True;
      elsif Has_Events then
         Take_Next (Self, Context);
      elsif not Has_Ready then
         --  A channel that becomes ready now has signaled the wake event
         Ends := Self.Has_Input or else Is_Over (Event_Loop (Self));
         if not Ends then
            Wait (Self, Context);
         end if;
      end if;
   end Take_Turn;

   procedure Serve (Self : in out Event_Loop'Class; Context : in out Contexts.Context) is
      Ends : Boolean := False;
   begin
      while not Ends and then Self.Is_Served (Context) loop
         begin
            Take_Turn (Self, Context, Ends);
         exception
            when Error : others =>
               Contexts.Pass_On (Self.Report, Error);
               Linux.Pause (After_Error);
         end;
      end loop;
   end Serve;

end Appserver.HTTP.Loops;
