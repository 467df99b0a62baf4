--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Listening sockets with a path in the file system (unix(7)), and listening sockets that the
--  service manager has passed (sd_listen_fds(3)).

pragma Ada_2022;

with Appserver.HTTP.Linux_Files;

private package Appserver.HTTP.Linux_Listeners is

   pragma Assertion_Policy (Pre => Check, Pre'Class => Check);

   Max_Path_Length : constant := 107;
   --  The maximum length of a socket's path, in bytes

   procedure Open_Unix_Socket
     (Path     : String;
      Mode     : Natural;
      Backlog  : Positive;
      Socket   : out Descriptor;
      Identity : out Linux_Files.File_Identity)
     with Pre => Path'Length in 1 .. Max_Path_Length and then Mode <= 8#777#;
   --  Creates a nonblocking listening socket. Removes the socket of a server that has ended, but no
   --  other file. Raises Network_Error on failure.

   procedure Remove_Unix_Socket (Path : String; Identity : Linux_Files.File_Identity);
   --  Removes the file of a listening socket, unless another file has taken its place

   First_Passed : constant Descriptor := 3;
   --  SD_LISTEN_FDS_START

   function Passed_Count return Natural;
   --  Returns the number of descriptors that were passed to this process

   function Passed_Index (Name : String) return Natural;
   --  Returns the index of the first descriptor with the name Name, from 1; 0 if there is none

   type Socket_Family is (TCP_Family, Unix_Family, Other_Family);

   procedure Open_Passed_Socket
     (Index : Positive; Socket : out Descriptor; Family : out Socket_Family);
   --  Duplicates a passed descriptor, so that the socket can be passed again after the server has
   --  closed its own descriptor. Makes both nonblocking, and closes both in programs that this
   --  process executes. Raises Network_Error if the descriptor is not a listening stream socket.

end Appserver.HTTP.Linux_Listeners;
