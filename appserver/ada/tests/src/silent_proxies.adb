--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

with Ada.Streams;
with Ada.Strings.Fixed;

package body Silent_Proxies is

   use Ada.Strings.Fixed;
   use GNAT.Sockets;

   protected body State is

      procedure Silence (New_Ones : Boolean) is
      begin
         Silences := True;
         Silences_New := New_Ones;
      end Silence;

      --  Nothing is forwarded once the order was taken

      entry Await_Silence when not Silences or else Stops is
      begin
         null;
      end Await_Silence;

      procedure Take_Order (Is_To_Silence, New_Ones, Is_To_Stop : out Boolean) is
      begin
         Is_To_Silence := Silences;
         New_Ones := Silences_New;
         Is_To_Stop := Stops;
         Silences := False;
      end Take_Order;

      procedure Stop is
      begin
         Stops := True;
      end Stop;

   end State;

   --  The parts of …@HOST:PORT/… are before, from and after Host_First .. Port_Last

   procedure Find
     (Target : String; Host_First, Colon, Port_Last : out Positive) is
   begin
      Host_First := Index (Target, "@", Ada.Strings.Backward) + 1;
      Colon := Index (Target, ":", From => Host_First);
      Port_Last := Index (Target, "/", From => Host_First) - 1;
   end Find;

   procedure Start (Self : in out Proxy; Target : String) is
      Host_First, Colon, Port_Last : Positive;
   begin
      Find (Target, Host_First, Colon, Port_Last);
      Self.Target := new String'(Target);
      Self.Server :=
        (Family_Inet, Inet_Addr (Target (Host_First .. Colon - 1)),
         Port_Type'Value (Target (Colon + 1 .. Port_Last)));
      Create_Socket (Self.Listener);
      Bind_Socket (Self.Listener, (Family_Inet, Loopback_Inet_Addr, Any_Port));
      Listen_Socket (Self.Listener);
      Self.Port := Get_Socket_Name (Self.Listener).Port;
      Self.Runs.Start;
   end Start;

   function Target (Self : Proxy) return String is
      Host_First, Colon, Port_Last : Positive;
   begin
      Find (Self.Target.all, Host_First, Colon, Port_Last);
      return
        Self.Target (1 .. Host_First - 1) & "127.0.0.1:" & Trim (Self.Port'Image, Ada.Strings.Left)
        & Self.Target (Port_Last + 1 .. Self.Target'Last);
   end Target;

   procedure Silence (Self : in out Proxy; New_Ones : Boolean) is
   begin
      Self.State.Silence (New_Ones);
      Self.State.Await_Silence;
   end Silence;

   procedure Stop (Self : in out Proxy) is
   begin
      Self.State.Stop;
   end Stop;

   procedure Close (Self : in out Pair) is
   begin
      Close_Socket (Self.Client);
      Close_Socket (Self.Server);
      Self := (others => <>);
   end Close;

   procedure Forward (From, To : Socket_Type; Is_Open : in out Boolean) is
      use Ada.Streams;
      Bytes   : Stream_Element_Array (1 .. 65_536);
      Last    : Stream_Element_Offset;
      Written : Stream_Element_Offset := 0;
   begin
      Receive_Socket (From, Bytes, Last);
      Is_Open := Last >= Bytes'First;
      while Written < Last loop
         Send_Socket (To, Bytes (Written + 1 .. Last), Written);
      end loop;
   exception
      when Socket_Error => Is_Open := False;
   end Forward;

   task body Forwarder is
      Pairs        : Pair_List;
      Selector     : Selector_Type;
      Readable     : Socket_Set_Type;
      Writable     : Socket_Set_Type;
      Status       : Selector_Status;
      Silences     : Boolean;
      Silences_New : Boolean;
      Stops        : Boolean;

      procedure Accept_One is
         Peer : Sock_Addr_Type;
      begin
         for Pair of Pairs loop
            if Pair.Client = No_Socket then
               Accept_Socket (Owner.Listener, Pair.Client, Peer);
               Create_Socket (Pair.Server);
               Connect_Socket (Pair.Server, Owner.Server);
               Pair.Is_Silent := Silences_New;
               return;
            end if;
         end loop;
      end Accept_One;

      procedure Serve (Pair : in out Silent_Proxies.Pair) is
         Is_Open : Boolean := True;
      begin
         if Pair.Client = No_Socket or else Pair.Is_Silent then
            return;
         end if;
         if Is_Set (Readable, Pair.Client) then
            Forward (Pair.Client, Pair.Server, Is_Open);
         end if;
         if Is_Open and then Is_Set (Readable, Pair.Server) then
            Forward (Pair.Server, Pair.Client, Is_Open);
         end if;
         if not Is_Open then
            Close (Pair);
         end if;
      end Serve;
   begin
      select
         accept Start;
      or
         terminate;
      end select;
      Create_Selector (Selector);
      loop
         Owner.State.Take_Order (Silences, Silences_New, Stops);
         exit when Stops;
         Empty (Readable);
         Set (Readable, Owner.Listener);
         for Pair of Pairs loop
            Pair.Is_Silent := Pair.Is_Silent or else Silences;
            if Pair.Client /= No_Socket and then not Pair.Is_Silent then
               Set (Readable, Pair.Client);
               Set (Readable, Pair.Server);
            end if;
         end loop;
         Empty (Writable);
         Check_Selector (Selector, Readable, Writable, Status, Timeout => 0.02);
         if Status = Completed then
            for Pair of Pairs loop
               Serve (Pair);
            end loop;
            if Is_Set (Readable, Owner.Listener) then
               Accept_One;
            end if;
         end if;
      end loop;
      for Pair of Pairs loop
         if Pair.Client /= No_Socket then
            Close (Pair);
         end if;
      end loop;
      Close_Socket (Owner.Listener);
      Close_Selector (Selector);
   end Forwarder;

end Silent_Proxies;
