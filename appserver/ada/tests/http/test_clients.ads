--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  A client of a server on this machine. What does not come within a minute is an error of a test.

with Ada.Strings.Unbounded;

private with Ada.Finalization;
private with GNAT.Sockets;

package Test_Clients is

   New_Line : constant String := [ASCII.CR, ASCII.LF];

   Too_Late : exception;

   type Client is tagged limited private;

   procedure Connect (Self : in out Client; Port : Natural; Receive_Buffer : Natural := 0);
   --  A small Receive_Buffer makes a client that does not read felt soon

   procedure Send (Self : in out Client; Bytes : String);

   procedure Ask (Self : in out Client; Path : String; Method : String := "GET");

   function Response (Self : in out Client; Has_Content : Boolean := True) return String;
   --  The next one: header, and content by its Content-Length. Empty at the end.

   function Received (Self : in out Client) return Natural;
   --  Takes the bytes that are there, at most 65,536, for Response and Rest to return later: how
   --  many they are. It waits for the first one.

   function Rest (Self : in out Client) return String;
   --  All until the server ends

   procedure Close (Self : in out Client);

   function Can_Connect (Port : Natural) return Boolean;

private

   type Client is new Ada.Finalization.Limited_Controlled with record
      Socket : GNAT.Sockets.Socket_Type := GNAT.Sockets.No_Socket;
      Bytes  : Ada.Strings.Unbounded.Unbounded_String;
      --  Received, and not yet taken
   end record;

   overriding procedure Finalize (Self : in out Client);

end Test_Clients;
