--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  The addresses on which a server listens: TCP ports, Unix sockets, and sockets that the service
--  manager passes (socket activation), with or without encryption.
--
--     Server.Start
--       (Hello'Access,
--        Listeners =>
--          [Listeners.TCP_Listener (Port => 8080),
--           Listeners.Unix_Listener ("/run/shop/web", Mode => 8#660#)]);

pragma Ada_2022;

with Appserver.HTTP.Transports;

private with Appserver.HTTP.Linux_Files;

package Appserver.HTTP.Listeners is

   pragma Assertion_Policy (Pre => Check, Pre'Class => Check);

   type Listener is private;

   type Listener_List is array (Positive range <>) of Listener;

   Max_Listeners : constant := 16;
   --  The maximum number of listeners of a server

   function TCP_Listener
     (Address   : String := "127.0.0.1";
      Port      : Port_Number := 0;
      Transport : Transports.Transport_Reference := null) return Listener
     with Pre => Address'Length <= 255
                 or else raise Misuse_Error with "the address is too long";
   --  Creates a listener on a TCP port.
   --  @param Address an IPv4 or IPv6 address to listen on
   --  @param Port a port; 0 lets the system choose one
   --  @param Transport encrypts the connections and must outlive the server; null for plain HTTP
   --  @return the listener

   type File_Mode is mod 8#1000#;
   --  The permissions of a file. A client needs write permission to connect to a Unix socket.

   Max_Path_Length : constant := 107;
   --  The maximum length of the path of a Unix socket, in bytes

   function Unix_Listener
     (Path      : String;
      Mode      : File_Mode := 8#600#;
      Transport : Transports.Transport_Reference := null) return Listener
     with Pre => Path'Length in 1 .. Max_Path_Length
                 or else raise Misuse_Error with "the path is empty or longer than 107 bytes";
   --  Creates a listener on a Unix socket. When the server starts, it creates a socket file, and
   --  removes a socket file that a terminated server has left. It fails if another server listens
   --  on the socket, or if the file is not a socket. When the server stops, it removes the file.
   --  Request.Client_Address is IP_Addresses.No_Address for the clients of a Unix socket.
   --  @param Path the path of the socket
   --  @param Mode the permissions of the socket, regardless of the umask
   --  @param Transport encrypts the connections and must outlive the server; null for plain HTTP
   --  @return the listener

   function Passed_Count return Natural;
   --  Counts the sockets that the service manager has passed to this process (LISTEN_PID and
   --  LISTEN_FDS, see sd_listen_fds(3)).
   --  @return the number of sockets

   function Passed_Listener
     (Index : Positive; Transport : Transports.Transport_Reference := null) return Listener;
   --  Creates a listener on a socket that the service manager has passed, such as file descriptor 3
   --  for Index = 1. The server duplicates the descriptor, and so can be started again. When the
   --  server stops, clients that have not been accepted wait for the next server.
   --  @param Index the number of the socket, from 1
   --  @param Transport encrypts the connections and must outlive the server; null for plain HTTP
   --  @return the listener

   function Passed_Listener
     (Name : String; Transport : Transports.Transport_Reference := null) return Listener
     with Pre => Name'Length in 1 .. 255
                 or else raise Misuse_Error with "the name is empty or longer than 255 bytes";
   --  Creates a listener on a socket that the service manager has passed, by the socket's name
   --  (LISTEN_FDNAMES, FileDescriptorName in systemd.socket(5)).
   --  @param Name the name; the first of multiple sockets with the same name is used
   --  @param Transport encrypts the connections and must outlive the server; null for plain HTTP
   --  @return the listener

   -----------------
   -- For servers --
   -----------------

   procedure Open (Self : in out Listener; Backlog : Positive)
     with Pre => not Is_Open (Self) or else raise Misuse_Error with "the listener is open";
   --  Starts listening.
   --  @param Self the listener
   --  @param Backlog the maximum number of connections that wait to be accepted
   --  @exception Network_Error the server cannot listen

   procedure Remove_File (Self : Listener);
   --  Removes the file of a Unix socket that the server has created. Clients can no longer connect.
   --  @param Self the listener

   procedure Close (Self : in out Listener)
     with Post => not Is_Open (Self);
   --  Removes the file of a Unix socket, and closes the socket.
   --  @param Self the listener

   procedure Forget (Self : in out Listener)
     with Post => not Is_Open (Self);
   --  Records that the socket has been or will be closed.
   --  @param Self the listener

   function Is_Open (Self : Listener) return Boolean;
   --  @param Self the listener
   --  @return True between Open and Close

   function Socket (Self : Listener) return Descriptor;
   --  @param Self the listener
   --  @return the listening socket

   function Port (Self : Listener) return Port_Number;
   --  @param Self the listener
   --  @return the TCP port; 0 for a Unix socket

   function Is_Passed (Self : Listener) return Boolean;
   --  @param Self the listener
   --  @return True if the service manager has passed the socket

   function Transport (Self : Listener) return Transports.Transport_Reference;
   --  @param Self the listener
   --  @return the transport; null for plain HTTP

private

   type Listener_Kind is (TCP, Unix, Passed, Passed_By_Name);

   subtype Text_Length is Natural range 0 .. 255;

   type Listener is record
      Kind      : Listener_Kind := TCP;
      Transport : Transports.Transport_Reference := null;
      Port      : Port_Number := 0;
      Mode      : File_Mode := 0;
      Index     : Positive := 1;
      --  The number of a passed socket
      Last      : Text_Length := 0;
      Text      : String (1 .. Text_Length'Last) := [others => ' '];
      --  The address, the path, or the name of a passed socket
      Socket    : Descriptor := No_File;
      Identity  : Linux_Files.File_Identity;
      --  The file of a Unix socket
   end record;

   function Is_Open (Self : Listener) return Boolean is (Self.Socket /= No_File);
   function Socket (Self : Listener) return Descriptor is (Self.Socket);
   function Port (Self : Listener) return Port_Number is (Self.Port);
   function Is_Passed (Self : Listener) return Boolean is
     (Self.Kind in Passed | Passed_By_Name);
   function Transport (Self : Listener) return Transports.Transport_Reference is (Self.Transport);

end Appserver.HTTP.Listeners;
