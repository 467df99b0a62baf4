--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  The Linux system calls that the servers use, with Ada types. Most of these subprograms report
--  errors as results instead of exceptions. See section 2 of the manual pages.

pragma Ada_2022;

private with Appserver.HTTP.Linux_Values;
with Interfaces;
with System;

private package Appserver.HTTP.Linux is

   pragma Assertion_Policy (Pre => Check, Pre'Class => Check);

   type Outcome is (Done, Would_Block, Failed);

   -----------
   -- Files --
   -----------

   procedure Close (File : Descriptor);

   procedure Read_File
     (File : Descriptor; Offset : Byte_Count; Into : out String; Count : out Natural);
   --  Reads from Offset with pread. Sets Count to 0 at the end of the file and after an error.

   function Can_Write (File : Descriptor) return Boolean;
   --  Returns True if File accepts bytes without blocking. If File is a pipe, it then accepts at
   --  least 4,096 bytes (PIPE_BUF).

   procedure Write
     (File : Descriptor; Bytes : String; Count : out Natural; Result : out Outcome);

   procedure Write_Error (Text : String);
   --  Writes to standard error as many bytes as one system call accepts

   -------------
   -- Sockets --
   -------------

   function Listening_Socket
     (Address : String; Port : Port_Number; Backlog : Positive) return Descriptor;
   --  Creates a listening socket on an IPv4 or IPv6 address. This socket and all sockets that it
   --  accepts are nonblocking. Accepted sockets fail if the peer is unreachable for two minutes
   --  (TCP keep-alive). Raises Network_Error on failure.

   procedure Set_Up_Accepted (Listener : Descriptor);
   --  Sets the options that the sockets of a TCP listener inherit: no delay, and TCP keep-alive.
   --  Raises Network_Error on failure.

   function Port_Of (Socket : Descriptor) return Port_Number;

   procedure Accept_Connection
     (Listener : Descriptor;
      Socket   : out Descriptor;
      Client   : out IP_Addresses.Address;
      Result   : out Outcome);
   --  Accepts a connection. Sets Client to IP_Addresses.No_Address if it is a connection to a Unix
   --  socket. Sets Result to Failed if the system currently has no descriptor or memory for a
   --  connection.

   procedure Ignore_New_Connections (Listener : Descriptor);
   --  Makes the kernel ignore new connection requests, which clients send again a second later. The
   --  caller must still accept the connections that are already being established.

   procedure Receive
     (Socket : Descriptor; Into : out String; Count : out Natural; Result : out Outcome)
     with Pre => Into'Length > 0;
   --  Receives bytes. Sets Count to 0 when the peer has shut down its sending side.

   function Has_Client (Listener : Descriptor) return Boolean;
   --  Returns True if a client is waiting to be accepted

   function Has_Input (Socket : Descriptor) return Boolean;
   --  Returns True if there are bytes to receive

   procedure Send
     (Socket      : Descriptor;
      Bytes       : String;
      More_Follow : Boolean;
      Count       : out Natural;
      Result      : out Outcome);
   --  Sends bytes. Sets Result to Done even if Count is less than the length of Bytes.

   procedure Send_File
     (Socket : Descriptor;
      File   : Descriptor;
      Offset : Byte_Count;
      Length : Byte_Count;
      Count  : out Byte_Count;
      Result : out Outcome);
   --  Sends a section of a file. Sets Result to Failed if the file ends before Offset.

   function Unsent (Socket : Descriptor) return Natural;
   --  Returns the number of sent bytes that the peer has not acknowledged yet (SIOCOUTQ). For a
   --  Unix socket, this is the memory of the bytes that the peer has not received yet.

   procedure Reset_When_Closed (Socket : Descriptor);
   --  Makes Close reset the connection (SO_LINGER), so the peer receives an error instead of an end
   --  of file

   procedure End_Sending (Socket : Descriptor);
   --  Shuts down the sending side. The peer sees an end of file, and may continue to send.

   procedure Ignore_Broken_Pipes;
   --  Ignores SIGPIPE, which would terminate the program. This is necessary because sendfile has no
   --  flag to suppress the signal.

   -----------
   -- Epoll --
   -----------

   --  An epoll set waits for events of its files. Each file in a set has a key, which identifies
   --  the file in events.

   type Key is new Interfaces.Unsigned_32;

   type Interest is (Input, Shared_Input, Output);
   --  The kind of event to wait for. With Shared_Input, an event wakes at least one but not all of
   --  the threads and sets that wait for the file (EPOLLEXCLUSIVE).

   Max_Events : constant := 128;

   type Event_List is limited private;

   function Key_Of (Events : Event_List; Index : Positive) return Key
     with Inline, Pre => Index <= Max_Events;

   function New_Set return Descriptor;

   function Can_Be_Waited_For (Set, File : Descriptor) return Boolean;
   --  Returns True if the set can wait for events of the file. Returns False for a regular file.

   function Added
     (Set, File : Descriptor; Awaited : Interest; Key : Linux.Key) return Boolean;
   --  Adds a file. Returns False if the system lacks the resources.

   procedure Add (Set, File : Descriptor; Awaited : Interest; Key : Linux.Key);
   procedure Change (Set, File : Descriptor; Awaited : Interest; Key : Linux.Key);
   procedure Remove (Set, File : Descriptor);

   Forever : constant := -1;

   procedure Wait
     (Set          : Descriptor;
      Events       : in out Event_List;
      Milliseconds : Integer;
      Count        : out Natural);
   --  Waits for events for at most Milliseconds. Sets Count to 0 if there were no events.

   type Descriptor_List is array (Positive range <>) of Descriptor;

   procedure Wait_For_Any
     (Files : Descriptor_List; Milliseconds : Integer; Ready : out Natural)
     with Pre => Files'Length > 0;
   --  Waits for input on any of Files. An epoll set has input when it has events. Sets Ready to the
   --  index of the first file with input, or to 0 on timeout.

   --------------------
   -- Waking threads --
   --------------------

   function New_Wake_Event return Descriptor;
   --  Creates an eventfd. Signal gives it input, and Reset removes this input.

   procedure Signal (Event : Descriptor);
   procedure Reset (Event : Descriptor);

   type Word is mod 2 ** 32 with Size => 32, Atomic;

   procedure Sleep_While (Place : aliased in out Word; Value : Word);
   --  Sleeps until another thread wakes this thread. Returns immediately if Place is not equal to
   --  Value. May also return without a reason (spurious wakeup).

   procedure Wake_One (Place : aliased in out Word);

   ----------
   -- Time --
   ----------

   procedure Pause (Milliseconds : Positive);

   function Milliseconds return Byte_Count;
   --  Returns a monotonic time in milliseconds, with the resolution of the kernel's ticks
   --  (CLOCK_MONOTONIC_COARSE)

   function Nanoseconds return Byte_Count;
   --  Returns a monotonic time in nanoseconds (CLOCK_MONOTONIC)

   function Unix_Time return Byte_Count;
   --  Returns the number of seconds since 1970

   ------------
   -- Limits --
   ------------

   procedure Allow_Files (Count : Positive);
   --  Raises the limit on open files to Count, or to the highest limit that the process may set if
   --  that is lower

   procedure Use_Small_Pages (Place : System.Address; Size : Byte_Count);
   --  Disables huge pages for a memory area. If a program uses an area only sparsely, small pages
   --  keep the rest of the area from becoming resident.

   procedure Unmap_Code;
   --  Releases the memory pages of the program's code. The kernel loads pages that are still needed
   --  from the program's file again. Pages that were needed only at startup do not stay resident.

   procedure Guard_Stack (Size : Positive);
   procedure Unguard_Stack (Size : Positive);
   --  Guard_Stack protects the last Size bytes of the calling thread's stack, so a stack frame of
   --  at most this size cannot overflow the stack undetected. GNAT creates threads with a guard of
   --  only one page. Unguard_Stack removes the protection, since the C library reuses stacks.

   function Usable_Cores return Positive;
   --  Returns the number of cores in the affinity mask of the calling thread

private

   use Interfaces;

   --  The layout of struct epoll_event depends on the machine, so its components are accessed as
   --  words

   Max_Event_Words : constant := 4;

   type Word_Array is array (Positive range <>) of Unsigned_32 with Convention => C;

   type Event_List is limited record
      Words : aliased Word_Array (1 .. Max_Event_Words * Max_Events);
   end record;

   function Key_Of (Events : Event_List; Index : Positive) return Key is
     (Key (Events.Words
        (1 + Natural (Linux_Values.Event_Key)
         + (Index - 1) * Positive (Linux_Values.Event_Words))));

end Appserver.HTTP.Linux;
