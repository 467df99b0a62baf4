--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Channels: connections that stay open after the response, and to which any task can send
--  messages. Channels.Events opens streams of server-sent events, and Channels.WebSockets opens
--  WebSocket connections. An open channel occupies no task.
--
--     Clients : HTTP.Channels.Group;
--     …
--     Clients.Add (Channel);
--     …
--     Clients.Broadcast (HTTP.Channels.Events.Event ("21.5", Name => "temperature"));
--
--  A handle stays valid after the connection has ended: Send then reports Closed. Only
--  HTTP.Server.Web_Server opens channels; an embedded server responds with 500.

pragma Ada_2022;

private with Ada.Finalization;
private with Appserver.HTTP.Channel_Cores;
private with Appserver.HTTP.Locks;

package Appserver.HTTP.Channels is

   pragma Assertion_Policy (Pre => Check, Pre'Class => Check);

   --------------
   -- Settings --
   --------------

   type Full_Policy is (Report, Disconnect);

   No_Limit : constant Duration := 0.0;

   type Settings is record
      Queue      : Positive := 131_072;
      --  The maximum number of bytes that wait for a client. An empty queue accepts a message of
      --  any length. While a client does not read, the server does not read from its channel
      --  either. So with this default and the server's default limits, a program that replies to
      --  each WebSocket message with a message of the same length never fills the queue.
      When_Full  : Full_Policy := Report;
      --  The behavior if the queue has no room for a message. Report: the message is not sent, and
      --  the result is Full. Disconnect: the connection is reset, and the result is Closed. A
      --  client of an event stream then connects again, and sends the last event ID.
      Message    : Positive := 65_536;
      --  The maximum length of a WebSocket message from the client, in bytes. The limit is never
      --  greater than the server's Limits.Content.
      Keep_Alive : Duration := 25.0;
      --  The time without traffic after which an event stream gets a comment, and a WebSocket
      --  client gets a ping, so that proxies do not close the connection. No_Limit sends nothing.
      Silence    : Duration := 20.0;
      --  The time after a ping in which a WebSocket client must send something. Otherwise the
      --  connection is reset. No_Limit waits forever.
      Idle       : Duration := No_Limit;
      --  The time without a message in either direction after which the channel is closed
   end record;
   --  The limits of a channel. Times are in seconds, and are checked once a second. A client that
   --  does not read for the server's Times.Sending, or sends a message more slowly than
   --  Times.Content permits, is disconnected.

   Default_Settings : constant Settings := (others => <>);

   --------------
   -- Channels --
   --------------

   type Channel is tagged private;
   --  A handle of a channel, or null. The initial value is null. Tasks may use copies of a handle
   --  concurrently.

   Null_Channel : constant Channel;

   overriding function "=" (Left, Right : Channel) return Boolean;
   --  @param Left a handle
   --  @param Right another handle
   --  @return True if both are handles of the same channel

   function Is_Null (Self : Channel) return Boolean;
   --  @param Self the handle
   --  @return True if the handle is null

   function Is_Open (Self : Channel) return Boolean;
   --  @param Self the handle
   --  @return True if the channel accepts messages: it has not been closed by either side

   function Waiting_Bytes (Self : Channel) return Natural
     with Pre => not Self.Is_Null or else raise Misuse_Error with "the channel is null";
   --  @param Self the channel
   --  @return the number of bytes that wait to be sent

   procedure Disconnect (Self : Channel)
     with Pre => not Self.Is_Null or else raise Misuse_Error with "the channel is null";
   --  Resets the connection without sending the messages that wait.
   --  @param Self the channel

   --------------
   -- Messages --
   --------------

   type Message is private;
   --  An encoded message, or null. All copies and all channels share the bytes.

   function Is_Null (Self : Message) return Boolean;
   --  @param Self the message
   --  @return True if there is no message

   function Length (Self : Message) return Natural;
   --  @param Self the message
   --  @return the number of encoded bytes; 0 for a null message

   type Send_Result is (Queued, Full, Closed);
   --  The result of sending. Queued: the server sends the message as soon as possible. Full: the
   --  message was not queued, since too many bytes wait for the client. Closed: the channel has
   --  ended.

   procedure Send (Self : Channel; Item : Message; Result : out Send_Result)
     with Pre => (not Self.Is_Null and then not Is_Null (Item))
                 or else raise Misuse_Error with "the channel or the message is null";
   --  Sends a message. Any task may call this procedure, which never waits for the client. Messages
   --  of one task arrive in the order in which they were sent. While a callback of the channel
   --  runs, messages to this channel wait until it returns.
   --  @param Self the channel
   --  @param Item the message
   --  @param Result set to Queued, Full or Closed
   --  @exception Misuse_Error the message is for the other kind of channel
   --  @exception Storage_Error there is not enough memory

   ------------
   -- Groups --
   ------------

   type Group is tagged limited private;
   --  A set of channels that get the same messages. Any task may call the operations. Channels that
   --  have ended leave the group by themselves.

   procedure Add (Self : in out Group; Member : Channel'Class)
     with Pre => not Member.Is_Null or else raise Misuse_Error with "the channel is null";
   --  Adds a channel.
   --  @param Self the group
   --  @param Member a channel that is not in the group yet
   --  @exception Storage_Error there is not enough memory

   procedure Remove (Self : in out Group; Member : Channel'Class);
   --  Removes a channel, if it is in the group.
   --  @param Self the group
   --  @param Member the channel

   procedure Broadcast (Self : in out Group; Item : Message)
     with Pre => not Is_Null (Item) or else raise Misuse_Error with "the message is null";
   --  Sends a message to all channels of the group. All channels get concurrent broadcasts in the
   --  same order. A channel whose queue is full misses the message, or is closed, as its settings
   --  say.
   --  @param Self the group
   --  @param Item the message
   --  @exception Misuse_Error the group has a channel of the other kind
   --  @exception Storage_Error there is not enough memory

   function Count (Self : in out Group) return Natural;
   --  @param Self the group
   --  @return the number of open channels in the group

private

   use type Channel_Cores.Core_Reference;
   use type Channel_Cores.Message_Reference;

   type Shared_Bytes is new Ada.Finalization.Controlled with record
      Reference : Channel_Cores.Message_Reference := null;
   end record;

   overriding procedure Adjust (Self : in out Shared_Bytes);
   overriding procedure Finalize (Self : in out Shared_Bytes);

   type Message is record
      Bytes : Shared_Bytes;
   end record;

   type Channel is new Ada.Finalization.Controlled with record
      Core : Channel_Cores.Core_Reference := null;
   end record;

   overriding procedure Adjust (Self : in out Channel);
   overriding procedure Finalize (Self : in out Channel);

   Null_Channel : constant Channel := (Ada.Finalization.Controlled with Core => null);

   overriding function "=" (Left, Right : Channel) return Boolean is (Left.Core = Right.Core);
   function Is_Null (Self : Channel) return Boolean is (Self.Core = null);
   function Is_Open (Self : Channel) return Boolean is
     (Self.Core /= null and then Channel_Cores.Accepts_Messages (Self.Core.all));
   function Waiting_Bytes (Self : Channel) return Natural is
     (Channel_Cores.Waiting_Bytes (Self.Core.all));

   function Is_Null (Self : Message) return Boolean is (Self.Bytes.Reference = null);
   function Length (Self : Message) return Natural is
     (if Self.Bytes.Reference = null then 0 else Self.Bytes.Reference.Length);

   type Core_List is array (Positive range <>) of Channel_Cores.Core_Reference;
   type Core_List_Reference is access Core_List;

   type Group is new Ada.Finalization.Limited_Controlled with record
      Lock    : Locks.Lock;
      Members : Core_List_Reference := null;
      Last    : Natural := 0;
   end record;

   overriding procedure Finalize (Self : in out Group);

   -----------------------
   -- For the protocols --
   -----------------------

   --  These functions are in a package, so that they are not primitive operations of the types

   package Protocols is

      procedure Set_Limits (Core : in out Channel_Cores.Core'Class; Options : Settings);
      --  Copies the settings

      function Handle (Core : not null Channel_Cores.Core_Reference) return Channel;
      --  Returns another handle of the channel

      function Adopted (Core : not null Channel_Cores.Core_Reference) return Channel;
      function Adopted (Bytes : not null Channel_Cores.Message_Reference) return Message;
      --  Return a handle or a message that takes the caller's reference

   end Protocols;

end Appserver.HTTP.Channels;
