--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Forwards connections to a server, and can make it look as if the server had stopped: the
--  connections stay open, and nothing comes any more.

with GNAT.Sockets;

package Silent_Proxies is

   type Proxy is limited private;

   procedure Start (Self : in out Proxy; Target : String);
   --  Target is a URI with a host and a port, as in postgresql://USER:PASSWORD@127.0.0.1:5432/shop

   function Target (Self : Proxy) return String;
   --  The same, through the proxy

   procedure Silence (Self : in out Proxy; New_Ones : Boolean);
   --  The connections that there are, and also later ones, if New_Ones

   procedure Stop (Self : in out Proxy);
   --  Closes all connections

private

   Max_Pairs : constant := 16;

   type Pair is record
      Client, Server : GNAT.Sockets.Socket_Type := GNAT.Sockets.No_Socket;
      Is_Silent      : Boolean := False;
   end record;

   type Pair_List is array (1 .. Max_Pairs) of Pair;

   protected type State is
      procedure Silence (New_Ones : Boolean);
      entry Await_Silence;
      procedure Take_Order (Is_To_Silence, New_Ones, Is_To_Stop : out Boolean);
      procedure Stop;
   private
      Silences, Silences_New, Stops : Boolean := False;
   end State;

   task type Forwarder (Owner : not null access Proxy) is
      entry Start;
   end Forwarder;

   type Text_Access is access String;

   type Proxy is limited record
      Target   : Text_Access;
      Port     : GNAT.Sockets.Port_Type := 0;
      Listener : GNAT.Sockets.Socket_Type;
      Server   : GNAT.Sockets.Sock_Addr_Type;
      State    : Silent_Proxies.State;
      Runs     : Forwarder (Proxy'Access);
   end record;

end Silent_Proxies;
