--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  The few calls of Linux that the servers are made of. What they do is in section 2 of its manual
--  pages; here they take Ada's types, and say what they could do as an outcome.

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
   --  Whether it takes bytes without waiting: a pipe that has room takes 4,096 (PIPE_BUF)

   procedure Write
     (File : Descriptor; Bytes : String; Count : out Natural; Result : out Outcome);

   procedure Write_Error (Text : String);
   --  To standard error, as far as it takes it

   -------------
   -- Sockets --
   -------------

   function Listening_Socket
     (Address : String; Port : Port_Number; Backlog : Positive) return Descriptor;
   --  Of an IPv4 or IPv6 address. Neither it nor what is accepted from it ever blocks.
   --  Network_Error if it cannot be.

   function Port_Of (Socket : Descriptor) return Port_Number;

   procedure Accept_Connection
     (Listener : Descriptor;
      Socket   : out Descriptor;
      Client   : out IP_Addresses.Address;
      Result   : out Outcome);
   --  Failed if the system has no room for it now

   procedure Ignore_New_Connections (Listener : Descriptor);
   --  Those that begin from here on are not answered: a client tries again, a second later. Those
   --  that have begun are still to be accepted.

   procedure Receive
     (Socket : Descriptor; Into : out String; Count : out Natural; Result : out Outcome)
     with Pre => Into'Length > 0;
   --  Count is 0 when the other side has ended

   procedure Send
     (Socket      : Descriptor;
      Bytes       : String;
      More_Follow : Boolean;
      Count       : out Natural;
      Result      : out Outcome);
   --  Result is Done even if Count is less than there are bytes

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
   --  The other side gets an error, not an end (SO_LINGER)

   procedure End_Sending (Socket : Descriptor);
   --  The other side sees an end, and may go on sending

   procedure Ignore_Broken_Pipes;
   --  SIGPIPE, which sendfile has no flag against, would end the program

   -----------
   -- Epoll --
   -----------

   --  What is waited for has a key, which its events carry

   type Key is new Interfaces.Unsigned_32;

   type Interest is (Input, Shared_Input, Output);
   --  Shared_Input: of several threads or sets that wait for it, not all are woken

   Most_Events : constant := 128;

   type Event_List is limited private;

   function Key_Of (Events : Event_List; Index : Positive) return Key
     with Inline, Pre => Index <= Most_Events;

   function New_Set return Descriptor;

   function Can_Be_Waited_For (Set, File : Descriptor) return Boolean;
   --  A regular file cannot

   function Added
     (Set, File : Descriptor; Awaited : Interest; Key : Linux.Key) return Boolean;
   --  Whether the system had room for it

   procedure Add (Set, File : Descriptor; Awaited : Interest; Key : Linux.Key);
   procedure Change (Set, File : Descriptor; Awaited : Interest; Key : Linux.Key);
   procedure Remove (Set, File : Descriptor);

   Forever : constant := -1;

   procedure Wait
     (Set          : Descriptor;
      Events       : in out Event_List;
      Milliseconds : Integer;
      Count        : out Natural);
   --  Until there are events, which is at once if Milliseconds is 0. Count is 0 when they are over.

   type Descriptor_List is array (Positive range <>) of Descriptor;

   procedure Wait_For_Any
     (Files : Descriptor_List; Milliseconds : Integer; Ready : out Natural)
     with Pre => Files'Length > 0;
   --  Until there is input on one of them; sets have input when they have events. Ready is the
   --  index of the first that has; 0 if none has in time.

   ---------------------
   -- Waking a thread --
   ---------------------

   function New_Wake_Event return Descriptor;
   --  An eventfd: has input after it was signalled

   procedure Signal (Event : Descriptor);
   procedure Reset (Event : Descriptor);

   type Word is mod 2 ** 32 with Size => 32, Atomic;

   procedure Sleep_While (Place : aliased in out Word; Value : Word);
   --  Until it is woken, but not at all if Place is not Value. It may return early.

   procedure Wake_One (Place : aliased in out Word);

   ----------
   -- Time --
   ----------

   procedure Pause (Milliseconds : Positive);

   function Milliseconds return Byte_Count;
   --  That never goes back, as exact as the kernel's ticks (CLOCK_MONOTONIC_COARSE)

   function Nanoseconds return Byte_Count;
   --  That never goes back (CLOCK_MONOTONIC)

   function Unix_Time return Byte_Count;
   --  Seconds since 1970

   ------------
   -- Limits --
   ------------

   procedure Allow_Files (Count : Positive);
   --  Raises the limit on open files to that, or as far as this process may

   procedure Use_Small_Pages (Place : System.Address; Size : Byte_Count);
   --  Memory of which little may be needed does not get huge pages where it is touched

   procedure Unmap_Code;
   --  Gives back the pages of the program's code, which is in its file: those that are needed from
   --  here on are mapped again. Those that only the beginning needed are not resident any more.

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

   Most_Event_Words : constant := 4;

   type Word_Array is array (Positive range <>) of Unsigned_32 with Convention => C;

   type Event_List is limited record
      Words : aliased Word_Array (1 .. Most_Event_Words * Most_Events);
   end record;

   function Key_Of (Events : Event_List; Index : Positive) return Key is
     (Key (Events.Words
        (1 + Natural (Linux_Values.Event_Key)
         + (Index - 1) * Positive (Linux_Values.Event_Words))));

end Appserver.HTTP.Linux;
