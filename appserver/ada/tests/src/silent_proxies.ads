--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Forwards connections to a server. A proxy can simulate that the server has stopped: the
--  connections stay open, but no more data arrives. It can also hold back a request.

with Ada.Streams;
with GNAT.Sockets;

package Silent_Proxies is

   type Proxy is limited private;

   procedure Start (Self : in out Proxy; Target : String);
   --  Starts the proxy. Target is a URI with a host and a port, as in
   --  postgresql://USER:PASSWORD@127.0.0.1:5432/shop

   function Target (Self : Proxy) return String;
   --  Returns the URI of the target with the proxy's host and port

   procedure Silence (Self : in out Proxy; New_Ones : Boolean);
   --  Stops forwarding data on the existing connections and, if New_Ones is True, also on later
   --  connections

   procedure Hold (Self : in out Proxy; Marker : String; Hangs_Up : Boolean);
   --  Holds back a request that contains Marker, and all later data on the same connection. If
   --  Hangs_Up is True, the client then sees the connection as closed by the server.

   function Has_Held (Self : Proxy) return Boolean;

   procedure Release (Self : in out Proxy);
   --  Forwards the data that was held back

   procedure Stop (Self : in out Proxy);
   --  Closes all connections

   procedure With_Proxy
     (Variable : String; Act : not null access procedure (Through : in out Proxy));
   --  Calls Act with a proxy for the target in the environment variable Variable. During the call,
   --  the variable contains the URI of the proxy.

private

   Max_Pairs : constant := 16;

   type Text_Access is access String;
   type Bytes_Access is access Ada.Streams.Stream_Element_Array;

   type Pair is record
      Client, Server : GNAT.Sockets.Socket_Type := GNAT.Sockets.No_Socket;
      Is_Silent      : Boolean := False;
      Held           : Bytes_Access;
   end record;

   type Pair_List is array (1 .. Max_Pairs) of Pair;

   protected type State is
      procedure Silence (New_Ones : Boolean);
      entry Await_Silence;
      function Has_Order return Boolean;
      procedure Take_Order (Is_To_Silence, New_Ones, Is_To_Stop : out Boolean);
      procedure Stop;
      procedure Hold (Marker : Text_Access; Hangs_Up : Boolean);
      function Held_Marker return Text_Access;
      function Hangs_Up return Boolean;
      procedure Note_Held;
      function Has_Held return Boolean;
      procedure Release;
      function Is_To_Release return Boolean;
      procedure Note_Released;
      entry Await_Release;
   private
      Silences, Silences_New, Stops  : Boolean := False;
      Marker                         : Text_Access;
      Ends_Held, Holds, Releases_Now : Boolean := False;
   end State;

   task type Forwarder (Owner : not null access Proxy) is
      entry Start;
   end Forwarder;

   type Proxy is limited record
      Target   : Text_Access;
      Port     : GNAT.Sockets.Port_Type := 0;
      Listener : GNAT.Sockets.Socket_Type;
      Server   : GNAT.Sockets.Sock_Addr_Type;
      State    : Silent_Proxies.State;
      Runs     : Forwarder (Proxy'Access);
   end record;

end Silent_Proxies;
