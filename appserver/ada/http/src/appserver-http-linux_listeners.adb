--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

pragma Ada_2022;

with Ada.Environment_Variables;
with Appserver.HTTP.Linux;
with Appserver.HTTP.Linux_Values;
with GNAT.OS_Lib;
with Interfaces.C.Strings;
with System;

package body Appserver.HTTP.Linux_Listeners is

   use Interfaces;
   use Interfaces.C;
   use Linux_Values;
   use type Linux_Files.File_Identity;
   use type Linux_Files.Path_Kind;

   function C_Socket (Domain, Kind, Protocol : int) return int
     with Import, Convention => C, External_Name => "socket";

   function C_Bind (Socket : int; Address : System.Address; Length : unsigned) return int
     with Import, Convention => C, External_Name => "bind";

   function C_Listen (Socket, Backlog : int) return int
     with Import, Convention => C, External_Name => "listen";

   function C_Connect (Socket : int; Address : System.Address; Length : unsigned) return int
     with Import, Convention => C, External_Name => "connect";

   function C_Chmod (Path : char_array; Mode : unsigned) return int
     with Import, Convention => C, External_Name => "chmod";

   function C_Unlink (Path : char_array) return int
     with Import, Convention => C, External_Name => "unlink";

   function C_Open (Path : char_array; Flags : int) return int
     with Import, Convention => C_Variadic_2, External_Name => "open";

   function C_Flock (File, Operation : int) return int
     with Import, Convention => C, External_Name => "flock";

   function C_Fcntl (File, Command, Argument : int) return int
     with Import, Convention => C_Variadic_2, External_Name => "fcntl";

   function C_Getsockopt
     (Socket, Level, Name : int; Value : System.Address; Length : access unsigned) return int
     with Import, Convention => C, External_Name => "getsockopt";

   function C_Getpid return int
     with Import, Convention => C, External_Name => "getpid";

   function C_Strerror (Error : int) return Strings.chars_ptr
     with Import, Convention => C, External_Name => "strerror";

   function Last_Error return int is (int (GNAT.OS_Lib.Errno));

   procedure Fail (Action : String; Error : int := Last_Error) with No_Return;

   procedure Fail (Action : String; Error : int := Last_Error) is
   begin
      raise Network_Error with Action & ": " & Strings.Value (C_Strerror (Error));
   end Fail;

   ------------------
   -- Unix sockets --
   ------------------

   --  struct sockaddr_un

   type Socket_Address is record
      Family : unsigned_short := unsigned_short (AF_UNIX);
      Path   : char_array (0 .. Max_Path_Length) := [others => nul];
   end record with Convention => C;

   Address_Length : constant := 110;

   function Address_Of (Path : String) return Socket_Address is
   begin
      return Result : Socket_Address do
         Result.Path (0 .. Path'Length) := To_C (Path);
      end return;
   end Address_Of;

   function New_Socket return Descriptor is
      Socket : constant int := C_Socket (AF_UNIX, SOCK_STREAM + SOCK_NONBLOCK + SOCK_CLOEXEC, 0);
   begin
      if Socket < 0 then
         Fail ("socket");
      end if;
      return Descriptor (Socket);
   end New_Socket;

   --  Removes a socket that refuses connections, since the server that listened on it has ended

   procedure Remove_Stale (Path : String) is
      Place  : aliased constant Socket_Address := Address_Of (Path);
      Client : constant Descriptor := New_Socket;
      Result : constant int := C_Connect (int (Client), Place'Address, Address_Length);
      Error  : constant int := Last_Error;
   begin
      Linux.Close (Client);
      --  EAGAIN: the server listens, but too many clients wait to be accepted
      if Result = 0 or else Error = EAGAIN then
         raise Network_Error with "another server listens on " & Path;
      elsif Error = ECONNREFUSED then
         if C_Unlink (To_C (Path)) /= 0 and then Last_Error /= ENOENT then
            Fail ("cannot remove the old socket " & Path);
         end if;
      elsif Error /= ENOENT then
         Fail ("cannot find out whether another server listens on " & Path, Error);
      end if;
   end Remove_Stale;

   --  Two servers that start at the same time must not remove each other's socket, so they lock
   --  its directory. The lock ends when the descriptor is closed.

   procedure Lock_Folder (Path : String; Lock : out Descriptor) is
      Attempts : constant := 100;
      Pause_Ms : constant := 10;

      function Folder return String is
      begin
         for K in reverse Path'Range loop
            if Path (K) = '/' then
               return Path (Path'First .. K);
            end if;
         end loop;
         return ".";
      end Folder;

      File : constant int := C_Open (To_C (Folder), O_DIRECTORY + O_CLOEXEC);
   begin
      --  A directory that may be written but not read cannot be locked
      Lock := (if File < 0 then No_File else Descriptor (File));
      for K in 1 .. Attempts loop
         exit when File < 0 or else C_Flock (File, LOCK_EX + LOCK_NB) = 0;
         if Last_Error /= EAGAIN then
            exit;
         elsif K = Attempts then
            Linux.Close (Lock);
            raise Network_Error with "another process has locked the directory of " & Path;
         end if;
         Linux.Pause (Pause_Ms);
      end loop;
   end Lock_Folder;

   procedure Open_Locked
     (Path     : String;
      Mode     : Natural;
      Backlog  : Positive;
      Socket   : out Descriptor;
      Identity : out Linux_Files.File_Identity)
   is
      Place : aliased constant Socket_Address := Address_Of (Path);
      Kind  : Linux_Files.Path_Kind;
   begin
      Socket := No_File;
      Linux_Files.Look_At_Path (Path, Kind, Identity);
      case Kind is
         when Linux_Files.Nothing => null;
         when Linux_Files.Socket  => Remove_Stale (Path);
         when Linux_Files.Other   => raise Network_Error with Path & " exists and is not a socket";
      end case;
      Socket := New_Socket;
      if C_Bind (int (Socket), Place'Address, Address_Length) /= 0 then
         Fail ("cannot listen on " & Path);
      end if;
      Linux_Files.Look_At_Path (Path, Kind, Identity);
      --  Nobody can connect before the socket listens
      if C_Chmod (To_C (Path), unsigned (Mode)) /= 0
        or else C_Listen (int (Socket), int (Backlog)) /= 0
      then
         declare
            Error : constant int := Last_Error;
         begin
            Remove_Unix_Socket (Path, Identity);
            Fail ("cannot listen on " & Path, Error);
         end;
      end if;
   exception
      when others =>
         if Socket /= No_File then
            Linux.Close (Socket);
         end if;
         raise;
   end Open_Locked;

   procedure Open_Unix_Socket
     (Path     : String;
      Mode     : Natural;
      Backlog  : Positive;
      Socket   : out Descriptor;
      Identity : out Linux_Files.File_Identity)
   is
      Lock : Descriptor;
   begin
      Lock_Folder (Path, Lock);
      Open_Locked (Path, Mode, Backlog, Socket, Identity);
      if Lock /= No_File then
         Linux.Close (Lock);
      end if;
   exception
      when others =>
         if Lock /= No_File then
            Linux.Close (Lock);
         end if;
         raise;
   end Open_Unix_Socket;

   procedure Remove_Unix_Socket (Path : String; Identity : Linux_Files.File_Identity) is
      Found   : Linux_Files.File_Identity;
      Kind    : Linux_Files.Path_Kind;
      Ignored : int;
   begin
      Linux_Files.Look_At_Path (Path, Kind, Found);
      if Kind = Linux_Files.Socket and then Found = Identity then
         Ignored := C_Unlink (To_C (Path));
      end if;
   end Remove_Unix_Socket;

   --------------------
   -- Passed sockets --
   --------------------

   function Value (Name : String) return String is
     (Ada.Environment_Variables.Value (Name, Default => ""));

   --  Returns the number in a variable of the environment, or 0 if it is invalid

   function Number (Name : String) return Natural is
      Text : constant String := Value (Name);
   begin
      return
        (if Text'Length in 1 .. 9 and then (for all C of Text => C in '0' .. '9')
         then Natural'Value (Text) else 0);
   end Number;

   --  A process that was started by the process to which the sockets were passed has inherited the
   --  variables, but not the sockets

   function Passed_Count return Natural is
     (if int (Number ("LISTEN_PID")) = C_Getpid then Number ("LISTEN_FDS") else 0);

   function Passed_Index (Name : String) return Natural is
      Names : constant String := Value ("LISTEN_FDNAMES");
      First : Positive := Names'First;
   begin
      for Index in 1 .. Passed_Count loop
         declare
            Last : Natural := First - 1;
         begin
            while Last < Names'Last and then Names (Last + 1) /= ':' loop
               Last := Last + 1;
            end loop;
            if Names (First .. Last) = Name then
               return Index;
            end if;
            exit when Last >= Names'Last;
            First := Last + 2;
         end;
      end loop;
      return 0;
   end Passed_Index;

   --  Returns the value of a socket's option, or -1 if the file is not a socket

   function Option (File : Descriptor; Name : int) return int is
      Result : aliased int := 0;
      Length : aliased unsigned := int'Size / 8;
   begin
      return
        (if C_Getsockopt (int (File), SOL_SOCKET, Name, Result'Address, Length'Access) = 0
         then Result else -1);
   end Option;

   procedure Open_Passed_Socket
     (Index : Positive; Socket : out Descriptor; Family : out Socket_Family)
   is
      Passed : constant Descriptor := First_Passed + Descriptor (Index - 1);
      Domain : constant int := Option (Passed, SO_DOMAIN);
      Copy   : int;
      Flags  : int;

      function Name return String is ("the passed file descriptor" & Passed'Image);
   begin
      if Option (Passed, SO_TYPE) /= SOCK_STREAM then
         raise Network_Error with Name & " is not a stream socket";
      elsif Option (Passed, SO_ACCEPTCONN) /= 1 then
         raise Network_Error with Name & " does not listen";
      end if;
      Family :=
        (if Domain in AF_INET | AF_INET6 then TCP_Family
         elsif Domain = AF_UNIX then Unix_Family
         else Other_Family);
      --  FD_CLOEXEC is 1, and the only flag of F_SETFD (POSIX)
      Copy := C_Fcntl (int (Passed), F_SETFD, 1);
      if Copy = 0 then
         Copy := C_Fcntl (int (Passed), F_DUPFD_CLOEXEC, int (First_Passed));
      end if;
      Flags := C_Fcntl (Copy, F_GETFL, 0);
      if Copy < 0
        or else C_Fcntl (Copy, F_SETFL, int (Unsigned_32 (Flags) or Unsigned_32 (O_NONBLOCK))) /= 0
      then
         declare
            Error : constant int := Last_Error;
         begin
            if Copy >= 0 then
               Linux.Close (Descriptor (Copy));
            end if;
            Fail (Name, Error);
         end;
      end if;
      Socket := Descriptor (Copy);
   end Open_Passed_Socket;

end Appserver.HTTP.Linux_Listeners;
