--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  The Linux calls that the servers use, with Ada's types and an outcome as result. Section 2 of
--  the manual pages describes them.

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
   --  pread. Count is 0 at the end, and after an error.

   function Can_Write (File : Descriptor) return Boolean;
   --  True if File accepts bytes without waiting: a ready pipe accepts 4,096 (PIPE_BUF)

   procedure Write
     (File : Descriptor; Bytes : String; Count : out Natural; Result : out Outcome);

   procedure Write_Error (Text : String);
   --  Writes to standard error, as much as it accepts at once

   -------------
   -- Sockets --
   -------------

   function Listening_Socket
     (Address : String; Port : Port_Number; Backlog : Positive) return Descriptor;
   --  A socket on an IPv4 or IPv6 address. It never blocks, nor do the sockets accepted from it.
   --  These fail when their other side is unreachable for two minutes (TCP keep-alive). Raises
   --  Network_Error.

   function Port_Of (Socket : Descriptor) return Port_Number;

   procedure Accept_Connection
     (Listener : Descriptor;
      Socket   : out Descriptor;
      Client   : out IP_Addresses.Address;
      Result   : out Outcome);
   --  Failed if the system has no descriptor or memory for it now

   procedure Ignore_New_Connections (Listener : Descriptor);
   --  New connections are not answered from here on: their clients try again a second later.
   --  Connections that have begun must still be accepted.

   procedure Receive
     (Socket : Descriptor; Into : out String; Count : out Natural; Result : out Outcome)
     with Pre => Into'Length > 0;
   --  Count is 0 when the other side has ended its sending

   function Has_Client (Listener : Descriptor) return Boolean;
   --  True if a client waits to be accepted

   function Has_Input (Socket : Descriptor) return Boolean;
   --  True if there are bytes to receive

   procedure Send
     (Socket      : Descriptor;
      Bytes       : String;
      More_Follow : Boolean;
      Count       : out Natural;
      Result      : out Outcome);
   --  Result is Done even if Count is less than the length of Bytes

   procedure Send_File
     (Socket : Descriptor;
      File   : Descriptor;
      Offset : Byte_Count;
      Length : Byte_Count;
      Count  : out Byte_Count;
      Result : out Outcome);
   --  Failed if the file ends before Offset

   function Unsent (Socket : Descriptor) return Natural;
   --  Bytes that were sent and that the other side has not acknowledged (SIOCOUTQ)

   procedure Reset_When_Closed (Socket : Descriptor);
   --  At Close, the other side gets an error instead of an end (SO_LINGER)

   procedure End_Sending (Socket : Descriptor);
   --  The other side sees an end, and may go on sending

   procedure Ignore_Broken_Pipes;
   --  Ignores SIGPIPE, which would end the program: sendfile has no flag against it

   -----------
   -- Epoll --
   -----------

   --  Each file in a set has a key, which its events carry

   type Key is new Interfaces.Unsigned_32;

   type Interest is (Input, Shared_Input, Output);
   --  Shared_Input: not all threads or sets that wait for it are woken (EPOLLEXCLUSIVE)

   Max_Events : constant := 128;

   type Event_List is limited private;

   function Key_Of (Events : Event_List; Index : Positive) return Key
     with Inline, Pre => Index <= Max_Events;

   function New_Set return Descriptor;

   function Can_Be_Waited_For (Set, File : Descriptor) return Boolean;
   --  False for a regular file

   function Added
     (Set, File : Descriptor; Awaited : Interest; Key : Linux.Key) return Boolean;
   --  True if the system had room for it

   procedure Add (Set, File : Descriptor; Awaited : Interest; Key : Linux.Key);
   procedure Change (Set, File : Descriptor; Awaited : Interest; Key : Linux.Key);
   procedure Remove (Set, File : Descriptor);

   Forever : constant := -1;

   procedure Wait
     (Set          : Descriptor;
      Events       : in out Event_List;
      Milliseconds : Integer;
      Count        : out Natural);
   --  Waits for events, for at most Milliseconds. Count is 0 if there were none.

   type Descriptor_List is array (Positive range <>) of Descriptor;

   procedure Wait_For_Any
     (Files : Descriptor_List; Milliseconds : Integer; Ready : out Natural)
     with Pre => Files'Length > 0;
   --  Waits for input on one of Files; a set has input when it has events. Ready is the index of
   --  the first with input; 0 if none has any in time.

   ---------------------
   -- Waking a thread --
   ---------------------

   function New_Wake_Event return Descriptor;
   --  An eventfd: has input after it was signalled

   procedure Signal (Event : Descriptor);
   procedure Reset (Event : Descriptor);

   type Word is mod 2 ** 32 with Size => 32, Atomic;

   procedure Sleep_While (Place : aliased in out Word; Value : Word);
   --  Sleeps until woken, but not at all if Place is not Value. It may return early.

   procedure Wake_One (Place : aliased in out Word);

   ----------
   -- Time --
   ----------

   procedure Pause (Milliseconds : Positive);

   function Milliseconds return Byte_Count;
   --  Monotonic, with the resolution of the kernel's ticks (CLOCK_MONOTONIC_COARSE)

   function Nanoseconds return Byte_Count;
   --  Monotonic (CLOCK_MONOTONIC)

   function Unix_Time return Byte_Count;
   --  Seconds since 1970

   ------------
   -- Limits --
   ------------

   procedure Allow_Files (Count : Positive);
   --  Raises the limit on open files to this number, or as far as the process may

   procedure Use_Small_Pages (Place : System.Address; Size : Byte_Count);
   --  Memory of which little may be needed does not get huge pages where it is touched

   procedure Unmap_Code;
   --  Gives back the pages of the program's code, which is in its file: those that are needed from
   --  here on are mapped again. Pages that only the start of the program needed are then no longer
   --  resident.

   procedure Guard_Stack (Size : Positive);
   procedure Unguard_Stack (Size : Positive);
   --  Takes the last Size bytes of the calling thread's stack from it, so that no smaller frame
   --  gets past its end unnoticed; and gives them back, as the C library uses stacks again. GNAT
   --  creates threads with a guard of one page.

   function Usable_Cores return Positive;
   --  By the affinity of the calling thread

private

   use Interfaces;

   --  struct epoll_event is not the same on all machines: its parts are found as words

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
