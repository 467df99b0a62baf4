--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  The connections of a loop that are channels. A connection is Streaming while its queue is empty,
--  and then the loop waits for input. If the client does not read, the connection is Sending, with
--  the time limits of any response. The loop then does not read from the client either, so a client
--  that sends more than it reads slows itself down.

pragma Ada_2022;

separate (Appserver.HTTP.Loops)
package body Pushing is

   use type Channel_Cores.Protocol;

   Never : constant Byte_Count := Byte_Count'Last / 2;

   Max_Batch : constant := 32_768;
   --  The number of bytes in the queue at which they are sent before more input is processed

   ------------
   -- Ending --
   ------------

   procedure Detach (Self : in out Event_Loop; Slot : Slot_Index) is
      Connection : Loops.Connection renames Self.Connections (Slot);
      Core       : constant Channel_Cores.Core_Reference := Connection.Channel;
   begin
      Connection.Channel := null;
      Self.Channels      := Self.Channels - 1;
      Channel_Cores.Detach (Core);
   end Detach;

   --  Closes the connection after everything was sent

   procedure End_Channel (Self : in out Event_Loop; Slot : Slot_Index) is
      Connection : Loops.Connection renames Self.Connections (Slot);
   begin
      Blocks.Drop (Self.Pool, Connection.Input);
      Detach (Self, Slot);
      Connection.Is_Last := True;
      Connection.Lingers := True;
      Finish (Self, Slot);
   end End_Channel;

   procedure Stop (Self : in out Event_Loop; Slot : Slot_Index) is
   begin
      Self.Connections (Slot).Channel.Finish (Channel_Cores.Going_Away);
   end Stop;

   -----------
   -- Times --
   -----------

   --  Sets the time of the next check

   procedure Set_Deadline (Self : in out Event_Loop; Slot : Slot_Index) is
      Connection : Loops.Connection renames Self.Connections (Slot);
      Core       : Channel_Cores.Core'Class renames Connection.Channel.all;

      procedure Check_At (From, Limit : Byte_Count) is
      begin
         if Limit > 0 then
            Connection.Deadline := Byte_Count'Min (Connection.Deadline, From + Limit);
         end if;
      end Check_At;

   begin
      Connection.Deadline := Never;
      Check_At (Core.Used_At, Core.Max_Idle);
      if Core.Is_Pinged then
         Check_At (Core.Pinged_At, Core.Max_Silence);
      elsif Core.Used_By = Channel_Cores.Web_Socket then
         Check_At (Core.Heard_At, Core.Keep_Alive);
      else
         Check_At (Core.Sent_At, Core.Keep_Alive);
      end if;
   end Set_Deadline;

   --  Limits the time in which a message arrives. After everything was sent, the deadline is for
   --  the client's close frame, and input does not change it.

   procedure Note_Input (Self : in out Event_Loop; Slot : Slot_Index; Bytes : Natural) is
      Connection : Loops.Connection renames Self.Connections (Slot);
      Core       : Channel_Cores.Core'Class renames Connection.Channel.all;
   begin
      Core.Heard_At := Self.Now;
      if Core.Awaits_End then
         return;
      end if;
      if not Core.In_Message then
         if Connection.Awaits = Await_Content then
            Connection.Awaits := Await_None;
            Set_Deadline (Self, Slot);
         end if;
      elsif Connection.Awaits = Await_Content then
         Prolong (Self, Slot, Byte_Count (Bytes), Limit => Self.Timeouts (Await_Content));
      else
         Connection.Awaits   := Await_Content;
         Connection.Deadline := Self.Now + Self.Timeouts (Await_Content);
         Connection.Since    := Self.Now;
         Connection.Due      := Self.Now;
      end if;
   end Note_Input;

   -------------
   -- Sending --
   -------------

   --  Sends the queue, as far as the client accepts it

   procedure Send_Queue
     (Self    : in out Event_Loop;
      Slot    : Slot_Index;
      Context : in out Contexts.Context;
      Result  : out Linux.Outcome)
   is
      Connection : Loops.Connection renames Self.Connections (Slot);
      Core       : Channel_Cores.Core'Class renames Connection.Channel.all;
      Size, Sent : Natural;
      Is_Empty   : Boolean := False;
   begin
      Result := Linux.Done;
      while Result = Linux.Done and then not Is_Empty loop
         Context.First := 1;
         Channel_Cores.Get_Output (Core, Context.Output, Context.Last);
         Size := Context.Last;
         exit when Size = 0;
         Send_Bytes (Connection, Context, Result);
         Sent := (if Context.Last = 0 then Size else Context.First - 1);
         Channel_Cores.Drop_Output (Core, Sent, Is_Empty);
         if Connection.State = Sending then
            Connection.Unsent := Connection.Unsent + Byte_Count (Sent);
         end if;
         Core.Sent_At := Self.Now;
         Core.Used_At := Self.Now;
      end loop;
      if Connection.State = Sending and then Connection.Session /= null then
         --  The number of encrypted bytes is known only to the kernel
         Connection.Unsent := Byte_Count (Linux.Unsent (Connection.Socket));
         Arm (Self, Slot);
      end if;
      Context.First := 1;
      Context.Last  := 0;
   end Send_Queue;

   --  Continues after everything was sent. If another task closes the channel now, it wakes the
   --  loop.

   procedure Note_All_Sent (Self : in out Event_Loop; Slot : Slot_Index) is
      Connection : Loops.Connection renames Self.Connections (Slot);
      Core       : Channel_Cores.Core'Class renames Connection.Channel.all;
   begin
      if Connection.State = Sending then
         Connection.State       := Streaming;
         Connection.Is_Inverted := False;
         Linux.Change (Self.Set, Connection.Socket, Linux.Input, Linux.Key (Slot));
         Set_Deadline (Self, Slot);
         Connection.Awaits := Await_None;
      end if;
      if not Core.Is_Closing then
         null;
      elsif not Core.Awaits_Client then
         End_Channel (Self, Slot);
      elsif not Core.Awaits_End then
         Core.Awaits_End     := True;
         Connection.Deadline := Self.Now + For_Lingering;
      end if;
   end Note_All_Sent;

   procedure Send_And_Wait
     (Self : in out Event_Loop; Slot : Slot_Index; Context : in out Contexts.Context)
   is
      Result : Linux.Outcome;
   begin
      if Self.Connections (Slot).Channel.Must_Cut then
         Cut (Self, Slot);
         return;
      end if;
      Send_Queue (Self, Slot, Context, Result);
      case Result is
         when Linux.Failed      => Release (Self, Slot);
         when Linux.Would_Block => Await_Room (Self, Slot);
         when Linux.Done        => Note_All_Sent (Self, Slot);
      end case;
   end Send_And_Wait;

   procedure Go_On
     (Self : in out Event_Loop'Class; Slot : Slot_Index; Context : in out Contexts.Context) is
   begin
      Send_And_Wait (Event_Loop (Self), Slot, Context);
   end Go_On;

   ---------------
   -- Callbacks --
   ---------------

   type Callback is (Opens, Has_Message);

   --  Calls the session. Other tasks may serve the loop in the meantime.

   procedure Call
     (Self    : in out Event_Loop'Class;
      Slot    : Slot_Index;
      Context : Contexts.Context;
      Reason  : Callback;
      Message : String := "")
   is
      Connection : Loops.Connection renames Self.Connections (Slot);
      Core       : constant Channel_Cores.Core_Reference := Connection.Channel;
      Before     : constant Connection_State := Connection.State;
      Began      : constant Byte_Count := Self.Now;
      Has_Failed : Boolean := False;
   begin
      Begin_Call (Self, Slot, Context);
      begin
         case Reason is
            when Opens       => Core.Call_Open;
            when Has_Message => Core.Call_Message (Message);
         end case;
      exception
         when Error : others =>
            Contexts.Pass_On (Self.Report, Error, Request_Line => "WebSocket");
            Has_Failed := True;
      end;
      End_Call (Self, Slot, Context, Before);
      if Before = Sending then
         Excuse (Event_Loop (Self), Slot, Self.Now - Began);
      end if;
      Core.Used_At := Self.Now;
      if Has_Failed then
         Core.Finish (Channel_Cores.Failed_Callback);
      end if;
   end Call;

   -----------
   -- Input --
   -----------

   --  Processes the bytes from First to Last in the context's request. The beginning of the message
   --  is in the connection's input; there is room for it before First.

   procedure Take_Input
     (Self        : in out Event_Loop'Class;
      Slot        : Slot_Index;
      Context     : in out Contexts.Context;
      First, Last : Positive)
   is
      use type Channel_Cores.Input_Event;

      Connection : Loops.Connection renames Self.Connections (Slot);
      Core       : constant Channel_Cores.Core_Reference := Connection.Channel;
      Bytes      : String renames Context.Request.Bytes;
      Begun      : Positive := First;
      --  The first byte of the message, as far as it is in the context
      Next       : Positive := First;
      Written    : Natural  := First - 1;
      Event      : Channel_Cores.Input_Event;
      Result     : Linux.Outcome := Linux.Done;
      Has_Room   : Boolean := True;
   begin
      Channel_Cores.Begin_Work (Core.all);
      loop
         Core.Parse (Bytes, Next, Last, Written, Event);
         exit when Event /= Channel_Cores.Has_Message;
         if Blocks.Length (Connection.Input) > 0 then
            Begun := First - Blocks.Length (Connection.Input);
            Blocks.Take (Self.Pool, Connection.Input, Bytes (Begun .. First - 1));
         end if;
         --  A closing channel waits only for the client's close frame
         if not Core.Is_Closing then
            Call (Self, Slot, Context, Has_Message, Bytes (Begun .. Written));
         end if;
         Begun := Written + 1;
         if Connection.State /= Sending
           and then Channel_Cores.Waiting_Bytes (Core.all) >= Max_Batch
         then
            Send_Queue (Event_Loop (Self), Slot, Context, Result);
            Channel_Cores.Begin_Work (Core.all);
            if Result = Linux.Failed then
               Release (Event_Loop (Self), Slot);
               return;
            elsif Result = Linux.Would_Block then
               Await_Room (Event_Loop (Self), Slot);
            end if;
         end if;
      end loop;
      if Event = Channel_Cores.Needs_More and then Written >= Begun then
         Keep
           (Event_Loop (Self), Slot, Bytes (Begun .. Written), Connection.Input, Has_Room);
      end if;
      if not Has_Room then
         Core.Finish (Channel_Cores.No_Memory);
      end if;
      Note_Input (Event_Loop (Self), Slot, Last - First + 1);
      if Connection.State /= Sending or else Core.Must_Cut then
         Send_And_Wait (Event_Loop (Self), Slot, Context);
      end if;
   end Take_Input;

   procedure Read
     (Self : in out Event_Loop'Class; Slot : Slot_Index; Context : in out Contexts.Context)
   is
      Connection : Loops.Connection renames Self.Connections (Slot);
      Request    : HTTP.Request renames Context.Request;
      Before     : constant Natural := Blocks.Length (Connection.Input);
      Count      : Natural;
      Result     : Linux.Outcome;
   begin
      Read_Some
        (Event_Loop (Self), Slot, Request.Bytes (Before + 1 .. Request.Capacity), Count, Result);
      if Result = Linux.Done and then Count > 0 then
         Take_Input (Self, Slot, Context, Before + 1, Before + Count);
      elsif Result /= Linux.Would_Block then
         Release (Event_Loop (Self), Slot);
      end if;
   end Read;

   -------------
   -- Opening --
   -------------

   procedure Respond_Without
     (Self     : in out Event_Loop'Class;
      Slot     : Slot_Index;
      Context  : in out Contexts.Context;
      Response : HTTP.Response;
      Began    : Byte_Count) is
   begin
      Judge_Last (Self, Slot, Context);
      Contexts.Put_Response
        (Context, Response, Self.Date, Self.Connections (Slot).Is_Last);
      Note_Response (Self, Context, Began);
   end Respond_Without;

   --  Stores the header for the line in the log

   procedure Keep_Header
     (Self     : in out Event_Loop;
      Slot     : Slot_Index;
      Request  : HTTP.Request;
      Core     : in out Channel_Cores.Core'Class;
      Began    : Byte_Count;
      Has_Room : out Boolean) is
   begin
      Has_Room := True;
      if Self.Log /= null then
         Core.Opened_At := Began;
         Keep
           (Self, Slot, Request.Bytes (Request.First .. Request.State.Header_Last), Core.Header,
            Has_Room);
      end if;
   end Keep_Header;

   procedure Open_Channel
     (Self     : in out Event_Loop'Class;
      Slot     : Slot_Index;
      Context  : in out Contexts.Context;
      Response : HTTP.Response;
      Began    : Byte_Count)
   is
      Connection : Loops.Connection renames Self.Connections (Slot);
      Builder    : Response_Builder renames Context.Builder.all;
      Core       : Channel_Cores.Core_Reference;
      Has_Room   : Boolean;
   begin
      if Builder.Channel = null or else Context.Request.Is_Head or else not Self.Has_Channels then
         Respond_Without (Self, Slot, Context, Response, Began);
         return;
      end if;
      Core     := Channel_Cores.Core_Reference (Builder.Channel);
      Has_Room := Self.May_Open_Channel;
      if Has_Room then
         Connection.Due := Self.Now;
         Keep_Header
           (Event_Loop (Self), Slot, Context.Request, Core.all, Began, Has_Room => Has_Room);
      end if;
      if not Has_Room then
         Builder.Clear;
         Respond_Without (Self, Slot, Context, Status_Only (Service_Unavailable), Began);
         return;
      end if;
      Builder.Channel    := null;
      Connection.Channel := Core;
      Self.Channels      := Self.Channels + 1;
      Core.Client        := Connection.Client;
      Core.Max_Message   :=
        Positive'Min (Core.Max_Message, Positive'Max (Self.Limits.Content, 1));
      Channel_Cores.Attach (Core.all, Self.Ready'Unchecked_Access, Positive (Slot));
      Contexts.Put_Channel_Header (Context, Response, Self.Date);
      --  No other request of this connection is processed
      Connection.Is_Last := True;
   end Open_Channel;

   procedure Begin_Channel
     (Self    : in out Event_Loop'Class;
      Slot    : Slot_Index;
      Context : in out Contexts.Context;
      Result  : Linux.Outcome)
   is
      Connection : Loops.Connection renames Self.Connections (Slot);
      Request    : HTTP.Request renames Context.Request;
      Core       : constant Channel_Cores.Core_Reference := Connection.Channel;
   begin
      Connection.Is_Last := False;
      Connection.Lingers := False;
      Connection.Awaits  := Await_None;
      Core.Heard_At := Self.Now;
      Core.Sent_At  := Self.Now;
      Core.Used_At  := Self.Now;
      case Result is
         when Linux.Failed =>
            Release (Event_Loop (Self), Slot);
            return;
         when Linux.Would_Block =>
            Await_Room (Event_Loop (Self), Slot);
         when Linux.Done =>
            Connection.State := Streaming;
            Set_Deadline (Event_Loop (Self), Slot);
      end case;
      if Core.Has_Session then
         Core.Is_Open := True;
         Call (Self, Slot, Context, Opens);
      end if;
      if Self.Is_Stopping then
         Stop (Event_Loop (Self), Slot);
      end if;
      if not Parsing.Is_Empty (Request) then
         Take_Input (Self, Slot, Context, Request.First, Request.Last);
      elsif Connection.State = Streaming then
         Send_And_Wait (Event_Loop (Self), Slot, Context);
      end if;
   end Begin_Channel;

   ---------------
   -- Time-outs --
   ---------------

   procedure Keep_Alive
     (Self : in out Event_Loop; Slot : Slot_Index; Context : in out Contexts.Context)
   is
      Core : constant Channel_Cores.Core_Reference := Self.Connections (Slot).Channel;
      Used : constant Byte_Count := Core.Used_At;
   begin
      Core.Send_Keep_Alive;
      if Core.Used_By = Channel_Cores.Web_Socket then
         Core.Is_Pinged := True;
         Core.Pinged_At := Self.Now;
      end if;
      Core.Sent_At := Self.Now;
      Channel_Cores.Take (Core);
      declare
         Held : Channel_Cores.Core_Reference := Core;
      begin
         Send_And_Wait (Self, Slot, Context);
         Core.Used_At := Used;
         Channel_Cores.Drop (Held);
      end;
   end Keep_Alive;

   procedure Time_Out
     (Self : in out Event_Loop'Class; Slot : Slot_Index; Context : in out Contexts.Context)
   is
      Connection : Loops.Connection renames Self.Connections (Slot);
      Core       : constant Channel_Cores.Core_Reference := Connection.Channel;

      function Is_Over (From, Limit : Byte_Count) return Boolean is
        (Limit > 0 and then From + Limit <= Self.Now);

   begin
      if Core.Awaits_End then
         Release (Event_Loop (Self), Slot);
         return;
      elsif Connection.Awaits = Await_Content then
         Core.Finish (Channel_Cores.Too_Slow);
         Send_And_Wait (Event_Loop (Self), Slot, Context);
      elsif Is_Over (Core.Used_At, Core.Max_Idle) then
         Core.Finish (Channel_Cores.Going_Away);
         Send_And_Wait (Event_Loop (Self), Slot, Context);
      elsif Core.Is_Pinged and then Is_Over (Core.Pinged_At, Core.Max_Silence) then
         Cut (Event_Loop (Self), Slot);
      elsif not Core.Is_Pinged
        and then Is_Over
          ((if Core.Used_By = Channel_Cores.Web_Socket then Core.Heard_At else Core.Sent_At),
           Core.Keep_Alive)
      then
         Keep_Alive (Event_Loop (Self), Slot, Context);
      end if;
      if Connection.State = Streaming and then not Connection.Channel.Awaits_End then
         Set_Deadline (Event_Loop (Self), Slot);
      end if;
   end Time_Out;

   --------------
   -- Finished --
   --------------

   procedure Note_In_Log
     (Self    : in out Event_Loop'Class;
      Core    : in out Channel_Cores.Core'Class;
      Context : in out Contexts.Context)
   is
      Request : HTTP.Request renames Context.Request;
      Size    : constant Natural := Blocks.Length (Core.Header);
      Result  : Parsing.Outcome;
      Status  : Status_Code;
   begin
      if Size = 0 then
         return;
      end if;
      Parsing.Clear (Request);
      Blocks.Take (Self.Pool, Core.Header, Request.Bytes (1 .. Size));
      Request.Last := Size;
      Parsing.Parse (Request, Self.Limits, Result, Status);
      Request.Client := Core.Client;
      Note_Date (Event_Loop (Self));
      if Self.Log /= null and then Result /= Parsing.Refused then
         Self.Log.Note
           (Request, Self.Date,
            (if Core.Used_By = Channel_Cores.Web_Socket then Switching_Protocols else OK),
            Bytes        => Core.Content,
            Microseconds => (Linux.Nanoseconds - Core.Opened_At) / 1_000);
      elsif Self.Log /= null then
         --  The content that a receiver has taken exceeds the limit of buffered content
         Self.Log.Note_Refusal (Core.Client, Self.Date, OK);
      end if;
      Parsing.Clear (Request);
   end Note_In_Log;

   procedure Call_Close
     (Core : not null Channel_Cores.Core_Reference; Report : Exception_Report) is
   begin
      if Core.Is_Open then
         Core.Is_Open := False;
         Core.Call_Close;
      end if;
   exception
      when Error : others =>
         Contexts.Pass_On (Report, Error, Request_Line => "WebSocket");
   end Call_Close;

   procedure Finish_Core
     (Self    : in out Event_Loop'Class;
      Core    : not null Channel_Cores.Core_Reference;
      Context : in out Contexts.Context) is
   begin
      Note_In_Log (Self, Core.all, Context);
      if Core.Is_Open then
         Self.Leave (Context, Handling);
         Call_Close (Core, Self.Report);
         Self.Come_Back (Context, Handling);
      end if;
      Core.End_Session;
   end Finish_Core;

   --  A callback sends its queue when it returns, and a client that is slow gets an event

   procedure Serve_Ready
     (Self    : in out Event_Loop'Class;
      Core    : Channel_Cores.Core'Class;
      Context : in out Contexts.Context)
   is
      Slot : constant Slot_Index := Slot_Index (Core.Slot);
   begin
      case Self.Connections (Slot).State is
         when Streaming =>
            Send_And_Wait (Event_Loop (Self), Slot, Context);
         when Sending =>
            if Core.Must_Cut then
               Cut (Event_Loop (Self), Slot);
            end if;
         when others =>
            null;
      end case;
   exception
      when Error : others =>
         Drop_Failed (Event_Loop (Self), Slot, Context, Was_Busy => False, Error => Error);
   end Serve_Ready;

   procedure Serve_Next (Self : in out Event_Loop'Class; Context : in out Contexts.Context) is
      Core : Channel_Cores.Core_Reference;
   begin
      Channel_Cores.Get (Self.Ready, Core);
      if Core = null then
         return;
      end if;
      begin
         if Core.Is_Gone then
            Finish_Core (Self, Core, Context);
         else
            Serve_Ready (Self, Core.all, Context);
         end if;
      exception
         when others =>
            Channel_Cores.Drop (Core);
            raise;
      end;
      Channel_Cores.Drop (Core);
   end Serve_Next;

   procedure Drop_All (Self : in out Event_Loop) is
      Core : Channel_Cores.Core_Reference;
   begin
      loop
         Channel_Cores.Get (Self.Ready, Core);
         exit when Core = null;
         Blocks.Drop (Self.Pool, Core.Header);
         Call_Close (Core, Self.Report);
         Core.End_Session;
         Channel_Cores.Drop (Core);
      end loop;
   end Drop_All;

end Pushing;
