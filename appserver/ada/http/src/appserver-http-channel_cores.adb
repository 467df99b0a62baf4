--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

pragma Ada_2022;

with Ada.Unchecked_Deallocation;
with Appserver.HTTP.Linux;
with System.Atomic_Operations.Modular_Arithmetic;

package body Appserver.HTTP.Channel_Cores is

   package Counting is new System.Atomic_Operations.Modular_Arithmetic (Count);

   procedure Free is new Ada.Unchecked_Deallocation (Encoded_Message, Message_Reference);
   procedure Free is new Ada.Unchecked_Deallocation (Node, Node_Reference);
   procedure Free is new Ada.Unchecked_Deallocation (Core'Class, Core_Reference);

   ----------------
   -- References --
   ----------------

   procedure Take (Message : not null Message_Reference) is
   begin
      Counting.Atomic_Add (Message.References, 1);
   end Take;

   procedure Drop (Message : in out Message_Reference) is
      Last : Message_Reference := Message;
   begin
      Message := null;
      if Last /= null and then Counting.Atomic_Fetch_And_Subtract (Last.References, 1) = 1 then
         Free (Last);
      end if;
   end Drop;

   procedure Take (Self : not null access Core'Class) is
   begin
      Counting.Atomic_Add (Self.References, 1);
   end Take;

   -----------
   -- Queue --
   -----------

   function Size (Self : Core'Class; Message : not null Message_Reference) return Natural is
     (if Self.Is_Raw then Message.Content_Last - Message.Content_First + 1 else Message.Length);

   procedure Append (Self : in out Core'Class; Fresh : not null Node_Reference) is
   begin
      if Self.Waiting.First = null then
         Self.Waiting.First := Fresh;
      else
         Self.Waiting.Last.Next := Fresh;
      end if;
      Self.Waiting.Last   := Fresh;
      Self.Waiting.Length := Self.Waiting.Length + Fresh.Message.Length;
   end Append;

   procedure Remove_First (Self : in out Core'Class) is
      First : Node_Reference := Self.Waiting.First;
   begin
      Self.Waiting.First  := First.Next;
      Self.Waiting.Length := Self.Waiting.Length - First.Message.Length;
      Self.Waiting.Sent   := 0;
      if Self.Waiting.First = null then
         Self.Waiting.Last := null;
      end if;
      Drop (First.Message);
      Free (First);
   end Remove_First;

   procedure Clear_Queue (Self : in out Core'Class) is
   begin
      while Self.Waiting.First /= null loop
         Remove_First (Self);
      end loop;
   end Clear_Queue;

   procedure Drop (Self : in out Core_Reference) is
      Last : Core_Reference := Self;
   begin
      Self := null;
      if Last /= null and then Counting.Atomic_Fetch_And_Subtract (Last.References, 1) = 1 then
         Clear_Queue (Last.all);
         Free (Last);
      end if;
   end Drop;

   ----------------
   -- Ready list --
   ----------------

   procedure Open (Self : in out Ready_List; Event : Descriptor) is
   begin
      Self.Event := Event;
   end Open;

   procedure Put (Self : in out Ready_List; Core : not null Core_Reference; Is_Fresh : out Boolean)
   is
      Must_Signal : Boolean := False;
   begin
      Locks.Acquire (Self.Lock);
      Is_Fresh := not Core.Is_Listed;
      if Is_Fresh then
         Core.Is_Listed := True;
         Core.Next      := null;
         if Self.First = null then
            Self.First := Core;
         else
            Self.Last.Next := Core;
         end if;
         Self.Last        := Core;
         Must_Signal      := not Self.Is_Signaled;
         Self.Is_Signaled := True;
      end if;
      Locks.Release (Self.Lock);
      if Must_Signal then
         Linux.Signal (Self.Event);
      end if;
   end Put;

   procedure Get (Self : in out Ready_List; Core : out Core_Reference) is
   begin
      Locks.Acquire (Self.Lock);
      Core := Self.First;
      if Core /= null then
         Core.Is_Listed := False;
         Self.First     := Core.Next;
         Core.Next      := null;
      end if;
      if Self.First = null then
         Self.Last        := null;
         Self.Is_Signaled := False;
      end if;
      Locks.Release (Self.Lock);
   end Get;

   --  Wakes the loop. Called with the core's lock held, so the list exists.

   procedure Wake (Self : in out Core'Class) is
      Is_Fresh : Boolean;
   begin
      if Self.List /= null then
         Counting.Atomic_Add (Self.References, 1);
         Put (Self.List.all, Self'Unchecked_Access, Is_Fresh);
         if not Is_Fresh then
            Counting.Atomic_Subtract (Self.References, 1);
         end if;
      end if;
   end Wake;

   -------------
   -- Sending --
   -------------

   --  Adds a message, which is lost if the program lacks memory. Called with the core's lock held.

   procedure Add (Self : in out Core'Class; Fresh : in out Node_Reference) is
   begin
      Append (Self, Fresh);
      Fresh := null;
      if Self.Is_Idle then
         Self.Is_Idle := False;
         Wake (Self);
      end if;
   end Add;

   function New_Node (Message : not null Message_Reference) return not null Node_Reference is
   begin
      return Result : constant not null Node_Reference :=
        new Node'(Next => null, Message => Message)
      do
         Take (Message);
      end return;
   end New_Node;

   procedure Discard (Unused : in out Node_Reference) is
   begin
      if Unused /= null then
         Drop (Unused.Message);
         Free (Unused);
      end if;
   end Discard;

   --  Returns True if a message does not fit

   function Is_Full (Self : Core'Class; Message : Message_Reference) return Boolean is
     (Self.Waiting.First /= null
      and then (Message.Length > Self.Max_Queued
                or else Self.Waiting.Length > Self.Max_Queued - Message.Length));

   procedure Cut_Locked (Self : in out Core'Class) is
   begin
      Self.Is_Closing := True;
      Self.Must_Cut   := True;
      Wake (Self);
   end Cut_Locked;

   procedure Send
     (Self : in out Core'Class; Message : not null Message_Reference; Result : out Outcome)
   is
      Fresh : Node_Reference;
   begin
      pragma Abort_Defer;
      Fresh := New_Node (Message);
      Locks.Acquire (Self.Lock);
      if Self.Is_Closing then
         Result := Closed;
      elsif not Is_Full (Self, Message) then
         Result := Queued;
         Add (Self, Fresh);
      elsif Self.Cuts_If_Full then
         Result := Closed;
         Cut_Locked (Self);
      else
         Result := Full;
      end if;
      Locks.Release (Self.Lock);
      Discard (Fresh);
   end Send;

   procedure Send_Control (Self : in out Core'Class; Message : not null Message_Reference) is
      Fresh : Node_Reference;
   begin
      pragma Abort_Defer;
      Fresh := New_Node (Message);
      Locks.Acquire (Self.Lock);
      if not Self.Is_Closing and then not Is_Full (Self, Message) then
         Add (Self, Fresh);
      end if;
      Locks.Release (Self.Lock);
      Discard (Fresh);
   end Send_Control;

   procedure Close (Self : in out Core'Class; Message : Message_Reference) is
      Fresh : Node_Reference := null;
   begin
      pragma Abort_Defer;
      if Message /= null then
         Fresh := New_Node (Message);
      end if;
      Locks.Acquire (Self.Lock);
      if not Self.Is_Closing then
         Self.Is_Closing := True;
         if Fresh /= null then
            Add (Self, Fresh);
         elsif Self.Is_Idle then
            Self.Is_Idle := False;
            Wake (Self);
         end if;
      end if;
      Locks.Release (Self.Lock);
      Discard (Fresh);
   end Close;

   procedure Cut (Self : in out Core'Class) is
   begin
      pragma Abort_Defer;
      Locks.Acquire (Self.Lock);
      if not Self.Must_Cut and then not Self.Is_Gone then
         Cut_Locked (Self);
      end if;
      Locks.Release (Self.Lock);
   end Cut;

   function Accepts_Messages (Self : in out Core'Class) return Boolean is
      Result : Boolean;
   begin
      pragma Abort_Defer;
      Locks.Acquire (Self.Lock);
      Result := not Self.Is_Closing;
      Locks.Release (Self.Lock);
      return Result;
   end Accepts_Messages;

   function Waiting_Bytes (Self : in out Core'Class) return Natural is
      Result : Natural;
   begin
      pragma Abort_Defer;
      Locks.Acquire (Self.Lock);
      Result := Self.Waiting.Length - Self.Waiting.Sent;
      Locks.Release (Self.Lock);
      return Result;
   end Waiting_Bytes;

   ---------------
   -- For loops --
   ---------------

   --  Called if the response is not sent. The session has not begun, so it only ends.

   overriding procedure Abandon (Self : not null access Core) is
      Reference : Core_Reference := Core'Class (Self.all)'Unchecked_Access;
   begin
      Locks.Acquire (Self.Lock);
      Self.Is_Closing := True;
      Self.Is_Gone    := True;
      Clear_Queue (Reference.all);
      Locks.Release (Self.Lock);
      Reference.End_Session;
      Drop (Reference);
   end Abandon;

   procedure Attach (Self : in out Core'Class; List : not null List_Reference; Slot : Positive) is
   begin
      Locks.Acquire (Self.Lock);
      Self.List := List;
      Self.Slot := Slot;
      Locks.Release (Self.Lock);
   end Attach;

   procedure Detach (Self : not null Core_Reference) is
      Unused   : Core_Reference := Self;
      Is_Fresh : Boolean;
   begin
      Locks.Acquire (Self.Lock);
      Self.Is_Closing := True;
      Self.Is_Gone    := True;
      Self.Is_Idle    := False;
      Clear_Queue (Self.all);
      Put (Self.List.all, Self, Is_Fresh);
      Self.List := null;
      Locks.Release (Self.Lock);
      if not Is_Fresh then
         Drop (Unused);
      end if;
   end Detach;

   procedure Begin_Work (Self : in out Core'Class) is
   begin
      Locks.Acquire (Self.Lock);
      Self.Is_Idle := False;
      Locks.Release (Self.Lock);
   end Begin_Work;

   function Content_First (Self : Core'Class; Message : Message_Reference) return Positive is
     (if Self.Is_Raw then Message.Content_First else 1);

   --  Removes messages that have been sent completely

   procedure Remove_Sent (Self : in out Core'Class) is
   begin
      while Self.Waiting.First /= null
        and then Self.Waiting.Sent >= Size (Self, Self.Waiting.First.Message)
      loop
         declare
            Message : constant not null Message_Reference := Self.Waiting.First.Message;
            Rest    : constant Natural := Self.Waiting.Sent - Size (Self, Message);
         begin
            Self.Content := Self.Content
              + Byte_Count (Message.Content_Last - Message.Content_First + 1);
            Remove_First (Self);
            Self.Waiting.Sent := Rest;
         end;
      end loop;
   end Remove_Sent;

   procedure Get_Output (Self : in out Core'Class; Into : in out String; Last : out Natural) is
      Node   : Node_Reference;
      Offset : Natural;
   begin
      Last := Into'First - 1;
      Locks.Acquire (Self.Lock);
      Remove_Sent (Self);
      Node   := Self.Waiting.First;
      Offset := Self.Waiting.Sent;
      while Node /= null and then Last < Into'Last loop
         declare
            Message : Encoded_Message renames Node.Message.all;
            First   : constant Positive := Content_First (Self, Node.Message) + Offset;
            Length  : constant Natural  := Natural'Min
              (Size (Self, Node.Message) - Offset, Into'Last - Last);
         begin
            Into (Last + 1 .. Last + Length) := Message.Bytes (First .. First + Length - 1);
            Last := Last + Length;
         end;
         Node   := Node.Next;
         Offset := 0;
      end loop;
      Self.Is_Idle := Self.Waiting.First = null;
      Locks.Release (Self.Lock);
   end Get_Output;

   procedure Drop_Output
     (Self : in out Core'Class; Count : Natural; Is_Empty : out Boolean) is
   begin
      Locks.Acquire (Self.Lock);
      Self.Waiting.Sent := Self.Waiting.Sent + Count;
      Remove_Sent (Self);
      Is_Empty     := Self.Waiting.First = null;
      Self.Is_Idle := Is_Empty;
      Locks.Release (Self.Lock);
   end Drop_Output;

end Appserver.HTTP.Channel_Cores;
