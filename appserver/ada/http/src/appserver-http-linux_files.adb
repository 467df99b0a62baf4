--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

pragma Ada_2022;

with Appserver.HTTP.Linux;
with Appserver.HTTP.Linux_Values;
with GNAT.OS_Lib;
with Interfaces.C;

package body Appserver.HTTP.Linux_Files is

   use Interfaces;
   use Interfaces.C;
   use Linux_Values;

   -------------
   -- Opening --
   -------------

   function C_Open_At (Folder : int; Path : char_array; Flags : int) return int
     with Import, Convention => C_Variadic_3, External_Name => "openat";

   function C_Create_At
     (Folder : int; Path : char_array; Flags : int; Mode : unsigned) return int
     with Import, Convention => C_Variadic_3, External_Name => "openat";

   procedure Open
     (Folder : int;
      Name   : String;
      Flags  : int;
      Into   : out Descriptor;
      Result : out Failure)
   is
      File : int;
   begin
      File := C_Open_At (Folder, To_C (Name), Flags + O_CLOEXEC);
      Into := (if File < 0 then No_File else Descriptor (File));
      Result :=
        (if File >= 0 then None
         elsif int (GNAT.OS_Lib.Errno) in ENOMEM | ENFILE | EMFILE then Out_Of_Resources
         else Missing);
   end Open;

   --  O_NONBLOCK prevents opening a named pipe from waiting for its reader

   procedure Open_To_Append (Path : String; Into : out Descriptor; Result : out Failure) is
      File : constant int := C_Create_At
        (AT_FDCWD, To_C (Path),
         O_WRONLY + O_CREAT + O_APPEND + O_CLOEXEC + O_NONBLOCK, 8#640#);
   begin
      Into   := (if File < 0 then No_File else Descriptor (File));
      Result := (if File < 0 then Missing else None);
   end Open_To_Append;

   procedure Open_Folder (Path : String; Into : out Descriptor; Result : out Failure) is
   begin
      Open (AT_FDCWD, Path, O_PATH + O_DIRECTORY, Into, Result);
   end Open_Folder;

   procedure Open_Folder_In
     (Folder : Descriptor; Name : String; Into : out Descriptor; Result : out Failure) is
   begin
      Open (int (Folder), Name, O_PATH + O_DIRECTORY + O_NOFOLLOW, Into, Result);
   end Open_Folder_In;

   --  O_NONBLOCK prevents opening a named pipe from blocking

   procedure Open_File_In
     (Folder : Descriptor; Name : String; Into : out Descriptor; Result : out Failure) is
   begin
      Open (int (Folder), Name, O_NONBLOCK + O_NOFOLLOW, Into, Result);
   end Open_File_In;

   function Refuses_Links return Boolean is

      function Is_Refused (Path : String; Flags : int) return Boolean is
         File   : Descriptor;
         Result : Failure;
      begin
         Open (AT_FDCWD, Path, Flags, File, Result);
         if Result = None then
            Linux.Close (File);
         end if;
         return Result /= None;
      end Is_Refused;

   --  The flags must reject symbolic links and files that are not directories, and nothing else

   begin
      return Is_Refused ("/proc/self", O_NOFOLLOW)
        and then Is_Refused ("/dev/null", O_DIRECTORY + O_PATH)
        and then not Is_Refused ("/dev/null", O_NONBLOCK + O_NOFOLLOW)
        and then not Is_Refused ("/", O_PATH + O_DIRECTORY + O_NOFOLLOW);
   end Refuses_Links;

   --------------
   -- Metadata --
   --------------

   --  struct statx, whose layout is the same on all machines

   type Statx_Time is record
      Seconds     : Integer_64;
      Nanoseconds : Unsigned_32;
      Padding     : Unsigned_32;
   end record with Convention => C;

   type Padding_Words is array (1 .. 16) of Unsigned_64 with Convention => C;

   type Statx_Data is record
      Mask            : Unsigned_32;
      Block_Size      : Unsigned_32;
      Attributes      : Unsigned_64;
      Links           : Unsigned_32;
      User            : Unsigned_32;
      Group           : Unsigned_32;
      Mode            : Unsigned_16;
      Padding         : Unsigned_16;
      Inode           : Unsigned_64;
      Size            : Unsigned_64;
      Blocks          : Unsigned_64;
      Attributes_Mask : Unsigned_64;
      Accessed        : Statx_Time;
      Born            : Statx_Time;
      Changed         : Statx_Time;
      Modified        : Statx_Time;
      Rest            : Padding_Words;
   end record with Convention => C, Size => 256 * 8;

   function C_Statx
     (Folder : int; Path : char_array; Flags : int; Mask : unsigned; Data : out Statx_Data)
      return int
     with Import, Convention => C, External_Name => "statx";

   procedure Look (File : Descriptor; Facts : out File_Facts; Result : out Failure) is
      Requested_Fields : constant unsigned := STATX_TYPE + STATX_MODE + STATX_MTIME + STATX_SIZE;
      Data : Statx_Data;
   begin
      if C_Statx (int (File), To_C (""), AT_EMPTY_PATH, Requested_Fields, Data) /= 0 then
         Facts  := (Size => 0, Changed => 0, Fraction => 0, others => False);
         Result := Missing;
      else
         Facts  :=
           (Is_Regular => (Data.Mode and S_IFMT) = S_IFREG,
            Is_Folder  => (Data.Mode and S_IFMT) = S_IFDIR,
            Size       => Byte_Count (Data.Size),
            Changed    => Data.Modified.Seconds,
            Fraction   => Data.Modified.Nanoseconds);
         Result := None;
      end if;
   end Look;

   procedure Look_At_Path (Path : String; Kind : out Path_Kind; Identity : out File_Identity) is
      Data : Statx_Data;
   begin
      if C_Statx
           (AT_FDCWD, To_C (Path), AT_SYMLINK_NOFOLLOW, STATX_TYPE + STATX_INO, Data) /= 0
      then
         Kind     := Nothing;
         Identity := (others => <>);
      else
         Kind     := (if (Data.Mode and S_IFMT) = S_IFSOCK then Socket else Other);
         --  The second word after Modified contains stx_dev_major and stx_dev_minor
         Identity := (Device => Data.Rest (2), Inode => Data.Inode);
      end if;
   end Look_At_Path;

end Appserver.HTTP.Linux_Files;
