--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  The shared state of a channel: a connection that stays open after its response, and to which any
--  task can send messages. The program refers to a core with handles, its loop with the connection.
--  References are counted, so a core outlives whichever of them ends first.
--
--  A message is encoded once, and the queues of all channels that send it refer to the same bytes.
--  A task that sends to an idle channel puts the core on the ready list of the channel's loop, and
--  wakes the loop if the list was not noticed yet.

pragma Ada_2022;

with Appserver.HTTP.Blocks;
with Appserver.HTTP.Locks;

private package Appserver.HTTP.Channel_Cores is

   pragma Assertion_Policy (Pre => Check, Pre'Class => Check);

   type Count is mod 2 ** 32 with Size => 32, Atomic;

   --------------
   -- Messages --
   --------------

   type Protocol is (Event_Stream, Web_Socket);

   type Encoded_Message (Length : Natural) is limited record
      References    : aliased Count := 1;
      Used_By       : Protocol;
      Content_First : Positive := 1;
      Content_Last  : Natural  := 0;
      --  Bytes (Content_First .. Content_Last) is the event without chunk framing, for clients that
      --  use HTTP/1.0
      Bytes         : String (1 .. Length);
   end record;

   type Message_Reference is access Encoded_Message;

   procedure Take (Message : not null Message_Reference);
   procedure Drop (Message : in out Message_Reference)
     with Post => Message = null;
   --  Add and remove a reference. Drop frees a message without references.

   ----------
   -- Core --
   ----------

   type Ready_List is limited private;
   type List_Reference is access all Ready_List;

   type Core is tagged;
   type Core_Reference is access all Core'Class;

   type Queue is private;

   type Input_Event is (Needs_More, Has_Message, Has_Ended);
   --  The result of reading input: more input is needed, a message is complete, or the channel ends

   type Core (Used_By : Protocol) is abstract new Channel_Root with record
      References  : aliased Count := 1;
      Lock        : Locks.Lock;
      --  Protects the components from here to Next
      List        : List_Reference := null;
      --  The list of the channel's loop; null before and after the connection
      Is_Idle     : Boolean := False;
      --  True if the loop must be woken to send
      Is_Closing  : Boolean := False;
      --  True if no more messages are accepted
      Is_Gone     : Boolean := False;
      --  True if the connection has ended
      Must_Cut    : Boolean := False;
      --  True if the loop must close the connection without waiting for the client
      Cuts_If_Full : Boolean := False;
      Max_Queued  : Positive := 1;
      --  The maximum number of bytes that wait to be sent
      Waiting     : Queue;
      Is_Listed   : Boolean := False;
      --  True if the core is on the list; protected by the lock of the list
      Next        : Core_Reference := null;
      --  The next core on the list

      --  Used only by the loop and its callbacks

      Slot        : Positive := 1;
      Is_Raw      : Boolean := False;
      --  True if events are sent without chunk framing
      Has_Session : Boolean := False;
      --  True if the callbacks have to be called
      Is_Open     : Boolean := False;
      --  True if On_Open has been called, so On_Close has to be called
      Is_Pinged   : Boolean := False;
      --  True if the client has not sent anything since the latest ping
      Is_Ended    : Boolean := False;
      --  True if the client has ended the channel, or has violated the protocol
      In_Message  : Boolean := False;
      --  True if a frame or a message has begun to arrive
      Max_Message : Positive := 1;
      Keep_Alive  : Byte_Count := 0;
      Max_Silence : Byte_Count := 0;
      Max_Idle    : Byte_Count := 0;
      --  Keep_Alive, Max_Silence and Max_Idle are in milliseconds; 0 if there is no limit
      Awaits_End  : Boolean := False;
      --  True if everything was sent, and the client has to confirm the end
      Pinged_At   : Byte_Count := 0;
      Heard_At    : Byte_Count := 0;
      Sent_At     : Byte_Count := 0;
      Used_At     : Byte_Count := 0;
      --  Pinged_At, Heard_At, Sent_At and Used_At are the loop's times of the latest ping, the
      --  latest input, the latest output, and the latest message
      Opened_At   : Byte_Count := 0;
      --  The time of the request, in nanoseconds; set only if there is a log
      Content     : Byte_Count := 0;
      --  The number of content bytes that were sent
      Client      : IP_Addresses.Address := IP_Addresses.No_Address;
      Header      : Blocks.Chain := Blocks.Empty;
      --  The header of the request; set only if there is a log
   end record;

   overriding procedure Abandon (Self : not null access Core);

   procedure Take (Self : not null access Core'Class);
   procedure Drop (Self : in out Core_Reference)
     with Post => Self = null;
   --  Add and remove a reference. Drop frees a core without references.

   type Outcome is (Queued, Full, Closed);

   procedure Send
     (Self : in out Core'Class; Message : not null Message_Reference; Result : out Outcome)
     with Pre => Message.Used_By = Self.Used_By
                 or else raise Misuse_Error with "the message is for another kind of channel";
   --  Adds a message to the queue. Any task may call this procedure. A queue that is empty accepts
   --  a message of any length.

   procedure Send_Control (Self : in out Core'Class; Message : not null Message_Reference);
   --  Adds a control message, unless the queue is full or the channel is closing

   procedure Close (Self : in out Core'Class; Message : Message_Reference);
   --  Ends the channel after the messages in the queue and then Message, which may be null. Any
   --  task may call this procedure.

   procedure Cut (Self : in out Core'Class);
   --  Closes the connection as soon as possible, without the messages in the queue. Any task may
   --  call this procedure.

   function Accepts_Messages (Self : in out Core'Class) return Boolean;
   function Waiting_Bytes (Self : in out Core'Class) return Natural;

   ---------------
   -- Callbacks --
   ---------------

   procedure Parse
     (Self    : in out Core;
      Bytes   : in out String;
      Next    : in out Positive;
      Last    : Natural;
      Written : in out Natural;
      Result  : out Input_Event) is abstract;
   --  Reads Bytes (Next .. Last), up to the end of a message. Content of messages is moved to the
   --  bytes after Written, so that a message that arrives in pieces is contiguous.

   procedure Call_Open (Self : not null access Core) is abstract;
   procedure Call_Message (Self : not null access Core; Message : String) is abstract;
   procedure Call_Close (Self : not null access Core) is abstract;
   --  Call the program's callbacks, and propagate their exceptions

   procedure End_Session (Self : in out Core) is abstract;
   --  Releases the program's object. The last call, which does not propagate exceptions.

   type Ending is (Normal, Going_Away, Failed_Callback, Too_Slow, No_Memory);

   procedure Finish (Self : in out Core; Reason : Ending) is abstract;
   --  Ends the channel as its protocol requires, and calls Close

   procedure Send_Keep_Alive (Self : in out Core) is abstract;

   function Awaits_Client (Self : Core) return Boolean is abstract;
   --  Returns True if the client has to confirm the end of the channel that has just been sent

   -----------------
   -- Event loops --
   -----------------

   procedure Open (Self : in out Ready_List; Event : Descriptor);
   --  Prepares the list. Event is signaled when a core is put on the list.

   function Has_Some (Self : Ready_List) return Boolean with Inline;

   procedure Get (Self : in out Ready_List; Core : out Core_Reference);
   --  Removes the first core from the list; null if there is none. The caller must drop the
   --  reference.

   procedure Attach (Self : in out Core'Class; List : not null List_Reference; Slot : Positive);
   --  Connects a channel with its loop

   procedure Detach (Self : not null Core_Reference);
   --  Disconnects a channel from its loop, discards the channel's queue, and puts the channel on
   --  the loop's list. The list takes the caller's reference.

   procedure Begin_Work (Self : in out Core'Class);
   --  Records that the loop is working on the channel: Send does not wake the loop until Get_Output
   --  or Drop_Output finds the queue empty

   procedure Get_Output (Self : in out Core'Class; Into : in out String; Last : out Natural);
   --  Copies as many bytes of the queue as fit, without removing them

   procedure Drop_Output
     (Self : in out Core'Class; Count : Natural; Is_Empty : out Boolean);
   --  Removes the first Count bytes from the queue

private

   type Node;
   type Node_Reference is access Node;

   type Node is limited record
      Next    : Node_Reference := null;
      Message : Message_Reference := null;
   end record;

   type Queue is record
      First, Last : Node_Reference := null;
      Sent        : Natural := 0;
      --  The number of bytes of the first message that have been sent
      Length      : Natural := 0;
      --  The number of bytes of all messages
   end record;

   type Ready_List is limited record
      Lock        : Locks.Lock;
      First       : Core_Reference := null with Atomic;
      Last        : Core_Reference := null;
      Event       : Descriptor := No_File;
      Is_Signaled : Boolean := False;
      --  True if the loop has not found the list empty since the latest signal
   end record;

   function Has_Some (Self : Ready_List) return Boolean is (Self.First /= null);

end Appserver.HTTP.Channel_Cores;
