--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

pragma Ada_2022;

with Interfaces.C.Strings;
with System.Storage_Elements;

package body Appserver.HTTP.Linux is

   use Interfaces.C;
   use Linux_Values;

   --  Returns the errno of the calling thread, with a function of GNAT's run-time library

   function Last_Error return int
     with Import, Convention => C, External_Name => "__get_errno";

   function Outcome_Of (Error : int) return Outcome is
     (if Error = EAGAIN then Would_Block else Failed);

   -----------
   -- Files --
   -----------

   function C_Close (File : int) return int
     with Import, Convention => C, External_Name => "close";

   procedure Close (File : Descriptor) is
      Ignored : constant int := C_Close (int (File));
   begin
      null;
   end Close;

   function C_Pread (File : int; Into : System.Address; Count : size_t; Offset : long) return long
     with Import, Convention => C, External_Name => "pread";

   procedure Read_File
     (File : Descriptor; Offset : Byte_Count; Into : out String; Count : out Natural)
   is
      Result : constant long := C_Pread (int (File), Into'Address, Into'Length, long (Offset));
   begin
      Count := Natural (long'Max (Result, 0));
   end Read_File;

   function C_Write (File : int; From : System.Address; Count : size_t) return long
     with Import, Convention => C, External_Name => "write";

   type Poll_Entry is record
      File            : int;
      Events          : short;
      Returned_Events : short;
   end record with Convention => C;

   type Poll_List is array (Positive range <>) of Poll_Entry with Convention => C;

   function C_Poll (List : System.Address; Count : unsigned_long; Milliseconds : int) return int
     with Import, Convention => C, External_Name => "poll";

   function Can_Write (File : Descriptor) return Boolean is
      List : aliased Poll_List := [(int (File), POLLOUT, 0)];
   begin
      return C_Poll (List'Address, 1, 0) > 0;
   end Can_Write;

   procedure Write
     (File : Descriptor; Bytes : String; Count : out Natural; Result : out Outcome)
   is
      Written : long;
   begin
      loop
         Written := C_Write (int (File), Bytes'Address, Bytes'Length);
         exit when Written >= 0 or else Last_Error /= EINTR;
      end loop;
      Count  := Natural (long'Max (Written, 0));
      Result := (if Written >= 0 then Done else Outcome_Of (Last_Error));
   end Write;

   procedure Write_Error (Text : String) is
      Ignored : constant long := C_Write (2, Text'Address, Text'Length);
   begin
      null;
   end Write_Error;

   -------------
   -- Sockets --
   -------------

   function C_Socket (Domain, Kind, Protocol : int) return int
     with Import, Convention => C, External_Name => "socket";

   function C_Setsockopt
     (Socket, Level, Name : int; Value : System.Address; Length : unsigned) return int
     with Import, Convention => C, External_Name => "setsockopt";

   function C_Bind (Socket : int; Address : System.Address; Length : unsigned) return int
     with Import, Convention => C, External_Name => "bind";

   function C_Listen (Socket, Backlog : int) return int
     with Import, Convention => C, External_Name => "listen";

   function C_Getsockname
     (Socket : int; Address : System.Address; Length : access unsigned) return int
     with Import, Convention => C, External_Name => "getsockname";

   function C_Accept4
     (Socket : int; Address, Length : System.Address; Flags : int) return int
     with Import, Convention => C, External_Name => "accept4";

   function C_Recv (Socket : int; Into : System.Address; Count : size_t; Flags : int) return long
     with Import, Convention => C, External_Name => "recv";

   function C_Send (Socket : int; From : System.Address; Count : size_t; Flags : int) return long
     with Import, Convention => C, External_Name => "send";

   function C_Sendfile
     (Socket, File : int; Offset : access long; Count : size_t) return long
     with Import, Convention => C, External_Name => "sendfile64";

   function C_Shutdown (Socket, Direction : int) return int
     with Import, Convention => C, External_Name => "shutdown";

   function C_Signal (Signal : int; Handler : System.Address) return System.Address
     with Import, Convention => C, External_Name => "signal";

   function C_Inet_Pton (Family : int; Text : char_array; Into : System.Address) return int
     with Import, Convention => C, External_Name => "inet_pton";

   function C_Strerror (Error : int) return Strings.chars_ptr
     with Import, Convention => C, External_Name => "strerror";

   --  struct sockaddr_in6, whose beginning has the same layout as struct sockaddr_in

   subtype Octets is IP_Addresses.Octets;

   type Socket_Address is record
      Family : unsigned_short := 0;
      Port   : Octets (1 .. 2) := [0, 0];
      IPv4   : Octets (1 .. 4) := [others => 0];
      IPv6   : Octets (1 .. 16) := [others => 0];
      Scope  : unsigned := 0;
   end record with Convention => C;

   IPv4_Length : constant := 16;
   IPv6_Length : constant := 28;

   procedure Fail (Action : String) with No_Return;

   procedure Fail (Action : String) is
   begin
      raise Network_Error with Action & ": " & Strings.Value (C_Strerror (Last_Error));
   end Fail;

   function Address_Of (Text : String; Port : Port_Number) return Socket_Address is
      Number : constant Unsigned_16 := Unsigned_16 (Port);
   begin
      return Result : Socket_Address do
         Result.Port := [Unsigned_8 (Number / 256), Unsigned_8 (Number mod 256)];
         if C_Inet_Pton (AF_INET, To_C (Text), Result.IPv4'Address) = 1 then
            Result.Family := unsigned_short (AF_INET);
         elsif C_Inet_Pton (AF_INET6, To_C (Text), Result.IPv6'Address) = 1 then
            Result.Family := unsigned_short (AF_INET6);
            Result.IPv4   := [others => 0];
         else
            raise Network_Error with Text & " is not an IPv4 or IPv6 address";
         end if;
      end return;
   end Address_Of;

   procedure Set (Socket, Level, Option, Value : int) is
      Argument : aliased constant int := Value;
   begin
      if C_Setsockopt (Socket, Level, Option, Argument'Address, int'Size / 8) /= 0 then
         Fail ("setsockopt");
      end if;
   end Set;

   procedure Switch_On (Socket, Level, Option : int) is
   begin
      Set (Socket, Level, Option, 1);
   end Switch_On;

   --  Enables TCP keep-alive. Accepted sockets inherit this setting.

   procedure Keep_Alive (Socket : int) is
      First_Probe    : constant := 60;
      Between_Probes : constant := 15;
      --  Seconds
      Probes         : constant := 4;
   begin
      Set (Socket, IPPROTO_TCP, TCP_KEEPIDLE, First_Probe);
      Set (Socket, IPPROTO_TCP, TCP_KEEPINTVL, Between_Probes);
      Set (Socket, IPPROTO_TCP, TCP_KEEPCNT, Probes);
      Switch_On (Socket, SOL_SOCKET, SO_KEEPALIVE);
   end Keep_Alive;

   procedure Reset_When_Closed (Socket : Descriptor) is
      type Linger is record
         Is_On, Seconds : int;
      end record with Convention => C;

      Option  : aliased constant Linger := (Is_On => 1, Seconds => 0);
      Ignored : constant int := C_Setsockopt
        (int (Socket), SOL_SOCKET, SO_LINGER, Option'Address, Linger'Size / 8);
   begin
      null;
   end Reset_When_Closed;

   procedure Set_Up_Accepted (Listener : Descriptor) is
   begin
      Switch_On (int (Listener), IPPROTO_TCP, TCP_NODELAY);
      Keep_Alive (int (Listener));
   end Set_Up_Accepted;

   function Listening_Socket
     (Address : String; Port : Port_Number; Backlog : Positive) return Descriptor
   is
      Place  : constant Socket_Address := Address_Of (Address, Port);
      Socket : constant int :=
        C_Socket (int (Place.Family), SOCK_STREAM + SOCK_NONBLOCK + SOCK_CLOEXEC, 0);
   begin
      if Socket < 0 then
         Fail ("socket");
      end if;
      Switch_On (Socket, SOL_SOCKET, SO_REUSEADDR);
      Set_Up_Accepted (Descriptor (Socket));
      if C_Bind
           (Socket, Place'Address,
            (if int (Place.Family) = AF_INET then IPv4_Length else IPv6_Length)) /= 0
        or else C_Listen (Socket, int (Backlog)) /= 0
      then
         Fail ("cannot listen on " & Address & " port" & Port'Image);
      end if;
      return Descriptor (Socket);
   exception
      when others =>
         Close (Descriptor (Socket));
         raise;
   end Listening_Socket;

   function Port_Of (Socket : Descriptor) return Port_Number is
      Place  : Socket_Address;
      Length : aliased unsigned := IPv6_Length;
   begin
      if C_Getsockname (int (Socket), Place'Address, Length'Access) /= 0 then
         Fail ("getsockname");
      end if;
      return Port_Number (Place.Port (1)) * 256 + Port_Number (Place.Port (2));
   end Port_Of;

   procedure Accept_Connection
     (Listener : Descriptor;
      Socket   : out Descriptor;
      Client   : out IP_Addresses.Address;
      Result   : out Outcome)
   is
      Place      : Socket_Address;
      Length     : aliased unsigned := IPv6_Length;
      New_Socket : constant int := C_Accept4
        (int (Listener), Place'Address, Length'Address, SOCK_NONBLOCK + SOCK_CLOEXEC);
   begin
      Client :=
        (if int (Place.Family) = AF_INET then IP_Addresses.From_Octets (Place.IPv4)
         elsif int (Place.Family) = AF_INET6 then IP_Addresses.From_Octets (Place.IPv6)
         else IP_Addresses.No_Address);
      Socket := Descriptor (int'Max (New_Socket, -1));
      Result :=
        (if New_Socket >= 0 then Done
         elsif Last_Error in ENFILE | EMFILE | ENOMEM | ENOBUFS then Failed
         else Would_Block);
   end Accept_Connection;

   --  A packet filter (see networking/filter.rst of Linux), which sees packets starting with their
   --  TCP header

   type Instruction is record
      Code          : Unsigned_16;
      Skip_If_True  : Unsigned_8;
      Skip_If_False : Unsigned_8;
      Value         : Unsigned_32;
   end record with Convention => C;

   type Instructions is array (Positive range <>) of Instruction with Convention => C;

   type Filter is record
      Length : unsigned_short;
      First  : System.Address;
   end record with Convention => C;

   Load_Byte     : constant := 16#30#;
   Jump_If_Set   : constant := 16#45#;
   End_With      : constant := 16#06#;

   procedure Ignore_New_Connections (Listener : Descriptor) is
      Without_SYN : aliased constant Instructions :=
        [(Load_Byte,   0, 0, 13),
         (Jump_If_Set, 0, 1, 2),
         (End_With,    0, 0, 0),
         (End_With,    0, 0, Unsigned_32'Last)];
      --  Byte 13 contains the flags; SYN is 2 (RFC 9293, 3.1). The result 0 drops a packet.
      Program     : aliased constant Filter := (Without_SYN'Length, Without_SYN'Address);
      Ignored     : constant int := C_Setsockopt
        (int (Listener), SOL_SOCKET, SO_ATTACH_FILTER, Program'Address, Filter'Size / 8);
   begin
      null;
   end Ignore_New_Connections;

   procedure Receive
     (Socket : Descriptor; Into : out String; Count : out Natural; Result : out Outcome)
   is
      Received : long;
   begin
      loop
         Received := C_Recv (int (Socket), Into'Address, Into'Length, 0);
         exit when Received >= 0 or else Last_Error /= EINTR;
      end loop;
      Count  := Natural (long'Max (Received, 0));
      Result := (if Received >= 0 then Done else Outcome_Of (Last_Error));
   end Receive;

   function Has_Client (Listener : Descriptor) return Boolean is
      List : aliased Poll_List := [(int (Listener), POLLIN, 0)];
   begin
      return C_Poll (List'Address, 1, 0) > 0;
   end Has_Client;

   function Has_Input (Socket : Descriptor) return Boolean is
      Byte : Character := ' ';
   begin
      return C_Recv (int (Socket), Byte'Address, 1, MSG_PEEK + MSG_DONTWAIT) > 0;
   end Has_Input;

   procedure Send
     (Socket      : Descriptor;
      Bytes       : String;
      More_Follow : Boolean;
      Count       : out Natural;
      Result      : out Outcome)
   is
      Sent : long;
   begin
      loop
         Sent := C_Send
           (int (Socket), Bytes'Address, Bytes'Length,
            MSG_NOSIGNAL + (if More_Follow then MSG_MORE else 0));
         exit when Sent >= 0 or else Last_Error /= EINTR;
      end loop;
      Count  := Natural (long'Max (Sent, 0));
      Result := (if Sent >= 0 then Done else Outcome_Of (Last_Error));
   end Send;

   procedure Send_File
     (Socket : Descriptor;
      File   : Descriptor;
      Offset : Byte_Count;
      Length : Byte_Count;
      Count  : out Byte_Count;
      Result : out Outcome)
   is
      Place : aliased long := long (Offset);
      Sent  : long;
   begin
      loop
         Sent := C_Sendfile (int (Socket), int (File), Place'Access, size_t (Length));
         exit when Sent >= 0 or else Last_Error /= EINTR;
      end loop;
      Count  := Byte_Count (long'Max (Sent, 0));
      Result := (if Sent > 0 then Done elsif Sent = 0 then Failed else Outcome_Of (Last_Error));
   end Send_File;

   function C_Ioctl (File : int; Request : unsigned_long; Value : System.Address) return int
     with Import, Convention => C_Variadic_2, External_Name => "ioctl";

   function Unsent (Socket : Descriptor) return Natural is
      Count : aliased int := 0;
   begin
      return
        (if C_Ioctl (int (Socket), SIOCOUTQ, Count'Address) = 0
         then Natural (int'Max (Count, 0)) else 0);
   end Unsent;

   procedure End_Sending (Socket : Descriptor) is
      Ignored : constant int := C_Shutdown (int (Socket), SHUT_WR);
   begin
      null;
   end End_Sending;

   procedure Ignore_Broken_Pipes is
      Ignore  : constant System.Address :=
        System.Storage_Elements.To_Address (1);
      --  SIG_IGN
      Ignored : constant System.Address := C_Signal (SIGPIPE, Ignore);
   begin
      null;
   end Ignore_Broken_Pipes;

   -----------
   -- Epoll --
   -----------

   function C_Epoll_Create1 (Flags : int) return int
     with Import, Convention => C, External_Name => "epoll_create1";

   function C_Epoll_Ctl (Set, Operation, File : int; Event : System.Address) return int
     with Import, Convention => C, External_Name => "epoll_ctl";

   function C_Epoll_Wait
     (Set : int; Events : System.Address; Max, Milliseconds : int) return int
     with Import, Convention => C, External_Name => "epoll_wait";

   function New_Set return Descriptor is
      Set : constant int := C_Epoll_Create1 (EPOLL_CLOEXEC);
   begin
      if Set < 0 then
         Fail ("epoll_create1");
      end if;
      return Descriptor (Set);
   end New_Set;

   function Controlled
     (Set, File : Descriptor; Operation : int; Awaited : Interest; Key : Linux.Key) return Boolean
   is
      Events : constant Unsigned_32 :=
        (case Awaited is
            when Input        => EPOLLIN,
            when Shared_Input => EPOLLIN + EPOLLEXCLUSIVE,
            when Output       => EPOLLOUT);
      Event  : Word_Array (1 .. Max_Event_Words) := [1 => Events, others => 0];
   begin
      Event (1 + Positive (Event_Key)) := Unsigned_32 (Key);
      return C_Epoll_Ctl (int (Set), Operation, int (File), Event'Address) = 0;
   end Controlled;

   function Added
     (Set, File : Descriptor; Awaited : Interest; Key : Linux.Key) return Boolean is
     (Controlled (Set, File, EPOLL_CTL_ADD, Awaited, Key));

   procedure Control
     (Set, File : Descriptor; Operation : int; Awaited : Interest; Key : Linux.Key) is
   begin
      if not Controlled (Set, File, Operation, Awaited, Key) then
         Fail ("epoll_ctl");
      end if;
   end Control;

   function Can_Be_Waited_For (Set, File : Descriptor) return Boolean is
     (Controlled (Set, File, EPOLL_CTL_ADD, Input, 0)
      and then Controlled (Set, File, EPOLL_CTL_DEL, Input, 0));

   procedure Add (Set, File : Descriptor; Awaited : Interest; Key : Linux.Key) is
   begin
      Control (Set, File, EPOLL_CTL_ADD, Awaited, Key);
   end Add;

   procedure Change (Set, File : Descriptor; Awaited : Interest; Key : Linux.Key) is
   begin
      Control (Set, File, EPOLL_CTL_MOD, Awaited, Key);
   end Change;

   procedure Remove (Set, File : Descriptor) is
   begin
      Control (Set, File, EPOLL_CTL_DEL, Input, 0);
   end Remove;

   procedure Wait
     (Set          : Descriptor;
      Events       : in out Event_List;
      Milliseconds : Integer;
      Count        : out Natural) is
   begin
      --  If a signal interrupts the call, there are no events
      Count := Natural
        (int'Max
           (C_Epoll_Wait (int (Set), Events.Words'Address, Max_Events, int (Milliseconds)), 0));
   end Wait;

   procedure Pause (Milliseconds : Positive) is
      Ignored : constant int := C_Poll (System.Null_Address, 0, int (Milliseconds));
   begin
      null;
   end Pause;

   procedure Wait_For_Any
     (Files : Descriptor_List; Milliseconds : Integer; Ready : out Natural)
   is
      List    : aliased Poll_List :=
        [for File of Files => (int (File), Events => POLLIN, Returned_Events => 0)];
      Ignored : constant int := C_Poll (List'Address, List'Length, int (Milliseconds));
   begin
      Ready := 0;
      for K in reverse List'Range loop
         if List (K).Returned_Events /= 0 then
            Ready := Files'First + (K - List'First);
         end if;
      end loop;
   end Wait_For_Any;

   --------------------
   -- Waking threads --
   --------------------

   function C_Eventfd (Value : unsigned; Flags : int) return int
     with Import, Convention => C, External_Name => "eventfd";

   function C_Read (File : int; Into : System.Address; Count : size_t) return long
     with Import, Convention => C, External_Name => "read";

   function New_Wake_Event return Descriptor is
      Event : constant int := C_Eventfd (0, EFD_NONBLOCK + EFD_CLOEXEC);
   begin
      if Event < 0 then
         Fail ("eventfd");
      end if;
      return Descriptor (Event);
   end New_Wake_Event;

   procedure Signal (Event : Descriptor) is
      One     : aliased constant Unsigned_64 := 1;
      Ignored : constant long := C_Write (int (Event), One'Address, 8);
   begin
      null;
   end Signal;

   procedure Reset (Event : Descriptor) is
      Count   : aliased Unsigned_64 := 0;
      Ignored : constant long := C_Read (int (Event), Count'Address, 8);
   begin
      null;
   end Reset;

   function C_Syscall
     (Number : long;
      Place  : System.Address;
      Operation, Value : long;
      Time   : System.Address) return long
     with Import, Convention => C_Variadic_1, External_Name => "syscall";

   procedure Sleep_While (Place : aliased in out Word; Value : Word) is
      Ignored : constant long := C_Syscall
        (SYS_futex, Place'Address, FUTEX_WAIT_PRIVATE, long (Value), System.Null_Address);
   begin
      null;
   end Sleep_While;

   procedure Wake_One (Place : aliased in out Word) is
      Ignored : constant long := C_Syscall
        (SYS_futex, Place'Address, FUTEX_WAKE_PRIVATE, 1, System.Null_Address);
   begin
      null;
   end Wake_One;

   ----------
   -- Time --
   ----------

   type Timespec is record
      Seconds : long;
      Nanos   : long;
   end record with Convention => C;

   procedure C_Clock_Gettime (Clock : int; Now : out Timespec)
     with Import, Convention => C, External_Name => "clock_gettime";

   function Milliseconds return Byte_Count is
      Now : Timespec;
   begin
      C_Clock_Gettime (CLOCK_MONOTONIC_COARSE, Now);
      return Byte_Count (Now.Seconds) * 1_000 + Byte_Count (Now.Nanos / 1_000_000);
   end Milliseconds;

   function Nanoseconds return Byte_Count is
      Now : Timespec;
   begin
      C_Clock_Gettime (CLOCK_MONOTONIC, Now);
      return Byte_Count (Now.Seconds) * 1_000_000_000 + Byte_Count (Now.Nanos);
   end Nanoseconds;

   function Unix_Time return Byte_Count is
      Now : Timespec;
   begin
      C_Clock_Gettime (CLOCK_REALTIME_COARSE, Now);
      return Byte_Count (Now.Seconds);
   end Unix_Time;

   ------------
   -- Limits --
   ------------

   type Limit_Pair is record
      Soft, Hard : unsigned_long;
   end record with Convention => C;

   function C_Getrlimit (Resource : int; Limit : out Limit_Pair) return int
     with Import, Convention => C, External_Name => "getrlimit";

   function C_Setrlimit (Resource : int; Limit : Limit_Pair) return int
     with Import, Convention => C, External_Name => "setrlimit";

   procedure Allow_Files (Count : Positive) is
      Requested : constant unsigned_long := unsigned_long (Count);
      Limit     : Limit_Pair;
      Ignored   : int;
   begin
      if C_Getrlimit (RLIMIT_NOFILE, Limit) = 0 and then Limit.Soft < Requested then
         Limit.Soft := unsigned_long'Min (Limit.Hard, Requested);
         Ignored := C_Setrlimit (RLIMIT_NOFILE, Limit);
      end if;
   end Allow_Files;

   function C_Madvise (Place : System.Address; Size : size_t; Advice : int) return int
     with Import, Convention => C, External_Name => "madvise";

   function C_Getpagesize return int
     with Import, Convention => C, External_Name => "getpagesize";

   function Page_Size return System.Storage_Elements.Storage_Offset is
     (System.Storage_Elements.Storage_Offset (C_Getpagesize));

   procedure Use_Small_Pages (Place : System.Address; Size : Byte_Count) is
      use System.Storage_Elements;

      Before  : constant Storage_Offset := Place mod Page_Size;
      Ignored : constant int :=
        C_Madvise (Place - Before, size_t (Size) + size_t (Before), MADV_NOHUGEPAGE);
   begin
      null;
   end Use_Small_Pages;

   --  The linker defines symbols for the beginning and the end of a program's code; there are none
   --  for shared libraries. Code is never modified, so nothing is lost.

   Code_First : constant Character
     with Import, Convention => C, External_Name => "__executable_start";
   Code_Last  : constant Character
     with Import, Convention => C, External_Name => "etext";

   pragma Weak_External (Code_First);
   pragma Weak_External (Code_Last);

   procedure Unmap_Code is
      use System.Storage_Elements;
      use type System.Address;

      Size    : Storage_Offset;
      Ignored : int;
   begin
      if Code_First'Address /= System.Null_Address then
         Size    := Code_Last'Address - Code_First'Address;
         Ignored := C_Madvise
           (Code_First'Address, size_t (Size - Size mod Page_Size), MADV_DONTNEED);
      end if;
   end Unmap_Code;

   --  Memory for a pthread_attr_t. appserver_http_linux.c checks that it is large enough.

   type Attributes is array (1 .. 16) of Unsigned_64 with Convention => C;

   function C_Self return unsigned_long
     with Import, Convention => C, External_Name => "pthread_self";

   function C_Getattr (Thread : unsigned_long; Into : out Attributes) return int
     with Import, Convention => C, External_Name => "pthread_getattr_np";

   function C_Getstack
     (Of_Thread : Attributes; First : out System.Address; Size : out size_t) return int
     with Import, Convention => C, External_Name => "pthread_attr_getstack";

   function C_Destroy (Old : in out Attributes) return int
     with Import, Convention => C, External_Name => "pthread_attr_destroy";

   function C_Mprotect (Place : System.Address; Size : size_t; Rights : int) return int
     with Import, Convention => C, External_Name => "mprotect";

   procedure Protect_Stack_End (Size : Positive; Rights : int) is
      Facts      : Attributes;
      First      : System.Address;
      Stack_Size : size_t;
      Ignored    : int;
   begin
      if C_Getattr (C_Self, Facts) = 0 then
         if C_Getstack (Facts, First, Stack_Size) = 0 then
            Ignored := C_Mprotect
              (First, size_t (Size - Size mod Positive (Page_Size)), Rights);
         end if;
         Ignored := C_Destroy (Facts);
      end if;
   end Protect_Stack_End;

   procedure Guard_Stack (Size : Positive) is
   begin
      Protect_Stack_End (Size, PROT_NONE);
   end Guard_Stack;

   procedure Unguard_Stack (Size : Positive) is
   begin
      Protect_Stack_End (Size, PROT_READ + PROT_WRITE);
   end Unguard_Stack;

   type Core_Set is array (0 .. 1_023) of Boolean with Pack;

   function C_Sched_Getaffinity
     (Thread : int; Size : size_t; Cores : access Core_Set) return int
     with Import, Convention => C, External_Name => "sched_getaffinity";

   function Usable_Cores return Positive is
      Cores : aliased Core_Set := [others => False];
      Count : Natural := 0;
   begin
      if C_Sched_Getaffinity (0, Core_Set'Size / 8, Cores'Access) = 0 then
         for Is_Usable of Cores loop
            Count := Count + Boolean'Pos (Is_Usable);
         end loop;
      end if;
      return Natural'Max (Count, 1);
   end Usable_Cores;

end Appserver.HTTP.Linux;
