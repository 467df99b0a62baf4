--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

pragma Ada_2022;

with Ada.Unchecked_Deallocation;

package body Appserver.HTTP.Channels is

   procedure Free is new Ada.Unchecked_Deallocation (Core_List, Core_List_Reference);

   -------------
   -- Handles --
   -------------

   overriding procedure Adjust (Self : in out Channel) is
   begin
      if Self.Core /= null then
         Channel_Cores.Take (Self.Core);
      end if;
   end Adjust;

   overriding procedure Finalize (Self : in out Channel) is
   begin
      Channel_Cores.Drop (Self.Core);
   end Finalize;

   procedure Disconnect (Self : Channel) is
   begin
      Channel_Cores.Cut (Self.Core.all);
   end Disconnect;

   ---------------
   -- Protocols --
   ---------------

   package body Protocols is

      function To_Milliseconds (Time : Duration) return Byte_Count is
        (if Time <= 0.0 then 0
         elsif Time >= 1.0E6 then 1_000_000_000
         else Byte_Count'Max (Byte_Count (Time * 1_000), 1));

      procedure Set_Limits (Core : in out Channel_Cores.Core'Class; Options : Settings) is
      begin
         Core.Max_Queued   := Options.Queue;
         Core.Cuts_If_Full := Options.When_Full = Disconnect;
         Core.Max_Message  := Options.Message;
         Core.Keep_Alive   := To_Milliseconds (Options.Keep_Alive);
         Core.Max_Silence  := To_Milliseconds (Options.Silence);
         Core.Max_Idle     := To_Milliseconds (Options.Idle);
      end Set_Limits;

      function Handle (Core : not null Channel_Cores.Core_Reference) return Channel is
      begin
         return Result : Channel do
            Channel_Cores.Take (Core);
            Result.Core := Core;
         end return;
      end Handle;

      function Adopted (Core : not null Channel_Cores.Core_Reference) return Channel is
      begin
         return Result : Channel do
            Result.Core := Core;
         end return;
      end Adopted;

      function Adopted (Bytes : not null Channel_Cores.Message_Reference) return Message is
      begin
         return Result : Message do
            Result.Bytes.Reference := Bytes;
         end return;
      end Adopted;

   end Protocols;

   --------------
   -- Messages --
   --------------

   overriding procedure Adjust (Self : in out Shared_Bytes) is
   begin
      if Self.Reference /= null then
         Channel_Cores.Take (Self.Reference);
      end if;
   end Adjust;

   overriding procedure Finalize (Self : in out Shared_Bytes) is
   begin
      Channel_Cores.Drop (Self.Reference);
   end Finalize;

   procedure Send (Self : Channel; Item : Message; Result : out Send_Result) is
      Outcome : Channel_Cores.Outcome;
   begin
      Channel_Cores.Send (Self.Core.all, Item.Bytes.Reference, Outcome);
      Result := (case Outcome is
                    when Channel_Cores.Queued => Queued,
                    when Channel_Cores.Full   => Full,
                    when Channel_Cores.Closed => Closed);
   end Send;

   ------------
   -- Groups --
   ------------

   First_Capacity : constant := 16;

   --  The following procedures are called with the group's lock held

   procedure Remove_At (Self : in out Group; Index : Positive) is
   begin
      Channel_Cores.Drop (Self.Members (Index));
      Self.Members (Index)     := Self.Members (Self.Last);
      Self.Members (Self.Last) := null;
      Self.Last := Self.Last - 1;
   end Remove_At;

   procedure Remove_Ended (Self : in out Group) is
   begin
      for K in reverse 1 .. Self.Last loop
         if not Channel_Cores.Accepts_Messages (Self.Members (K).all) then
            Remove_At (Self, K);
         end if;
      end loop;
   end Remove_Ended;

   --  Doubles the capacity, unless half of the channels have ended

   procedure Make_Room (Self : in out Group) is
      Larger : Core_List_Reference;
   begin
      if Self.Members = null then
         Self.Members := new Core_List (1 .. First_Capacity);
      elsif Self.Last = Self.Members'Last then
         Remove_Ended (Self);
         if Self.Last > Self.Members'Last / 2 then
            Larger := new Core_List (1 .. 2 * Self.Members'Last);
            Larger (1 .. Self.Last) := Self.Members (1 .. Self.Last);
            Free (Self.Members);
            Self.Members := Larger;
         end if;
      end if;
   end Make_Room;

   procedure Add (Self : in out Group; Member : Channel'Class) is
   begin
      pragma Abort_Defer;
      Locks.Acquire (Self.Lock);
      begin
         Make_Room (Self);
         Self.Last := Self.Last + 1;
         Channel_Cores.Take (Member.Core);
         Self.Members (Self.Last) := Member.Core;
      exception
         when others =>
            Locks.Release (Self.Lock);
            raise;
      end;
      Locks.Release (Self.Lock);
   end Add;

   procedure Remove (Self : in out Group; Member : Channel'Class) is
   begin
      pragma Abort_Defer;
      Locks.Acquire (Self.Lock);
      for K in 1 .. Self.Last loop
         if Self.Members (K) = Member.Core then
            Remove_At (Self, K);
            exit;
         end if;
      end loop;
      Locks.Release (Self.Lock);
   end Remove;

   procedure Broadcast (Self : in out Group; Item : Message) is
      use type Channel_Cores.Outcome;
      Outcome : Channel_Cores.Outcome;
   begin
      pragma Abort_Defer;
      Locks.Acquire (Self.Lock);
      begin
         for K in reverse 1 .. Self.Last loop
            Channel_Cores.Send (Self.Members (K).all, Item.Bytes.Reference, Outcome);
            if Outcome = Channel_Cores.Closed then
               Remove_At (Self, K);
            end if;
         end loop;
      exception
         when others =>
            Locks.Release (Self.Lock);
            raise;
      end;
      Locks.Release (Self.Lock);
   end Broadcast;

   function Count (Self : in out Group) return Natural is
      Result : Natural;
   begin
      pragma Abort_Defer;
      Locks.Acquire (Self.Lock);
      Remove_Ended (Self);
      Result := Self.Last;
      Locks.Release (Self.Lock);
      return Result;
   end Count;

   overriding procedure Finalize (Self : in out Group) is
   begin
      while Self.Last > 0 loop
         Remove_At (Self, Self.Last);
      end loop;
      Free (Self.Members);
   end Finalize;

end Appserver.HTTP.Channels;
