--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  A client of a server on this machine. If data does not arrive within a minute, the test fails.

with Ada.Strings.Unbounded;

private with Ada.Finalization;
private with GNAT.Sockets;

package Test_Clients is

   New_Line : constant String := [ASCII.CR, ASCII.LF];

   Too_Late : exception;

   type Client is tagged limited private;

   procedure Connect (Self : in out Client; Port : Natural; Receive_Buffer : Natural := 0);
   --  Connects to the server. With a small Receive_Buffer, the server soon cannot send anymore if
   --  the client does not read.

   procedure Send (Self : in out Client; Bytes : String);

   procedure Ask (Self : in out Client; Path : String; Method : String := "GET");

   function Response (Self : in out Client; Has_Content : Boolean := True) return String;
   --  Returns the next response: the header, and the content according to Content-Length. Returns
   --  an empty text after the last response.

   function Received (Self : in out Client) return Natural;
   --  Receives the available bytes, at most 65,536, and returns their number. Waits for the first
   --  byte. Response and Rest return these bytes later.

   function Rest (Self : in out Client) return String;
   --  Returns all bytes until the server closes the connection

   procedure Close (Self : in out Client);

   function Can_Connect (Port : Natural) return Boolean;

   procedure Await_Read (Port : Natural);
   --  Waits until the server on the port has read everything that its clients have sent

private

   type Client is new Ada.Finalization.Limited_Controlled with record
      Socket : GNAT.Sockets.Socket_Type := GNAT.Sockets.No_Socket;
      Bytes  : Ada.Strings.Unbounded.Unbounded_String;
      --  The bytes that have been received, but not returned yet
   end record;

   overriding procedure Finalize (Self : in out Client);

end Test_Clients;
