--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

with Ada.Environment_Variables;
with Ada.Strings.Fixed;

package body Silent_Proxies is

   use Ada.Streams;
   use Ada.Strings.Fixed;
   use GNAT.Sockets;

   protected body State is

      procedure Silence (New_Ones : Boolean) is
      begin
         Silences := True;
         Silences_New := New_Ones;
      end Silence;

      --  After this entry call, the proxy forwards nothing

      entry Await_Silence when not Silences or else Stops is
      begin
         null;
      end Await_Silence;

      function Has_Order return Boolean is (Silences or else Stops);

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

      procedure Hold (Marker : Text_Access; Hangs_Up : Boolean) is
      begin
         State.Marker := Marker;
         Ends_Held := Hangs_Up;
      end Hold;

      function Held_Marker return Text_Access is (Marker);
      function Hangs_Up return Boolean is (Ends_Held);

      procedure Note_Held is
      begin
         Holds := True;
      end Note_Held;

      function Has_Held return Boolean is (Holds);

      procedure Release is
      begin
         Releases_Now := True;
      end Release;

      function Is_To_Release return Boolean is (Releases_Now);

      procedure Note_Released is
      begin
         Releases_Now := False;
      end Note_Released;

      entry Await_Release when not Releases_Now or else Stops is
      begin
         null;
      end Await_Release;

   end State;

   --  Finds HOST:PORT in …@HOST:PORT/…, at Host_First .. Port_Last

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

   procedure Hold (Self : in out Proxy; Marker : String; Hangs_Up : Boolean) is
   begin
      Self.State.Hold (new String'(Marker), Hangs_Up);
   end Hold;

   function Has_Held (Self : Proxy) return Boolean is (Self.State.Has_Held);

   procedure Release (Self : in out Proxy) is
   begin
      Self.State.Release;
      Self.State.Await_Release;
   end Release;

   procedure Stop (Self : in out Proxy) is
   begin
      Self.State.Stop;
   end Stop;

   procedure With_Proxy
     (Variable : String; Act : not null access procedure (Through : in out Proxy))
   is
      use Ada.Environment_Variables;

      Direct  : constant String := Value (Variable);
      Through : Proxy;
   begin
      Start (Through, Direct);
      Set (Variable, Target (Through));
      Act (Through);
      Stop (Through);
      Set (Variable, Direct);
   exception
      when others =>
         Stop (Through);
         Set (Variable, Direct);
         raise;
   end With_Proxy;

   procedure Close (Self : in out Pair) is
   begin
      Close_Socket (Self.Client);
      Close_Socket (Self.Server);
      Self := (others => <>);
   end Close;

   function Contains (Bytes : Stream_Element_Array; Text : Text_Access) return Boolean is
   begin
      if Text = null then
         return False;
      end if;
      declare
         Letters : String (1 .. Bytes'Length) with Import, Address => Bytes'Address;
      begin
         return Index (Letters, Text.all) > 0;
      end;
   end Contains;

   task body Forwarder is
      Pairs        : Pair_List;
      Selector     : Selector_Type;
      Readable     : Socket_Set_Type;
      Writable     : Socket_Set_Type;
      Status       : Selector_Status;
      Silences     : Boolean;
      Silences_New : Boolean;
      Stops        : Boolean;
      Bytes        : Stream_Element_Array (1 .. 65_536);

      --  A peer that does not read must not delay a call to Silence or Stop: the remaining bytes
      --  are dropped, and both connections are closed

      Small : constant := 2_048;
      --  The number of bytes that a writable socket accepts

      procedure Send_All
        (Pair      : in out Silent_Proxies.Pair;
         To_Server : Boolean;
         Bytes     : Stream_Element_Array)
      is
         To        : constant Socket_Type := (if To_Server then Pair.Server else Pair.Client);
         None      : Socket_Set_Type;
         Receivers : Socket_Set_Type;
         Written   : Stream_Element_Offset := Bytes'First - 1;
      begin
         while Written < Bytes'Last loop
            Empty (None);
            Empty (Receivers);
            Set (Receivers, To);
            Check_Selector (Selector, None, Receivers, Status, Timeout => 0.02);
            if Status = Completed then
               Send_Socket
                 (To,
                  Bytes
                    (Written + 1 .. Stream_Element_Offset'Min (Written + Small, Bytes'Last)),
                  Written);
            elsif Owner.State.Has_Order then
               Pair.Is_Silent := True;
               return;
            end if;
         end loop;
      end Send_All;

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

      procedure Hold (Pair : in out Silent_Proxies.Pair; Request : Stream_Element_Array) is
      begin
         Pair.Held := new Stream_Element_Array'(Request);
         Pair.Is_Silent := True;
         if Owner.State.Hangs_Up then
            Shutdown_Socket (Pair.Client);
         end if;
         Owner.State.Note_Held;
      end Hold;

      procedure Release (Pair : in out Silent_Proxies.Pair) is
      begin
         if Pair.Held /= null then
            Send_All (Pair, To_Server => True, Bytes => Pair.Held.all);
            Pair.Held := null;
            Pair.Is_Silent := Owner.State.Hangs_Up;
         end if;
      end Release;

      procedure Forward (Pair : in out Silent_Proxies.Pair; Is_Request : Boolean) is
         Last : Stream_Element_Offset;
      begin
         Receive_Socket ((if Is_Request then Pair.Client else Pair.Server), Bytes, Last);
         if Last < Bytes'First then
            Close (Pair);
         elsif Is_Request and then Contains (Bytes (1 .. Last), Owner.State.Held_Marker) then
            Hold (Pair, Bytes (1 .. Last));
         else
            Send_All (Pair, To_Server => Is_Request, Bytes => Bytes (1 .. Last));
         end if;
      exception
         when Socket_Error => Close (Pair);
      end Forward;

      procedure Serve (Pair : in out Silent_Proxies.Pair) is
      begin
         if Pair.Client = No_Socket or else Pair.Is_Silent then
            return;
         end if;
         if Is_Set (Readable, Pair.Client) then
            Forward (Pair, Is_Request => True);
         end if;
         if Pair.Client /= No_Socket
           and then not Pair.Is_Silent and then Is_Set (Readable, Pair.Server)
         then
            Forward (Pair, Is_Request => False);
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
         if Owner.State.Is_To_Release then
            for Pair of Pairs loop
               Release (Pair);
            end loop;
            Owner.State.Note_Released;
         end if;
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
