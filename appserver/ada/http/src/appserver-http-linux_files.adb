--  SPDX-License-Identifier: Apache-2.0

with Appserver.HTTP.Linux;
with GNAT.OS_Lib;
with Interfaces.C;

package body Appserver.HTTP.Linux_Files is

   use Interfaces;
   use Interfaces.C;

   -------------
   -- Opening --
   -------------

   --  fcntl.h on x86-64; Refuses_Links finds out about other machines

   Non_Blocking     : constant := 8#4_000#;
   Is_Folder        : constant := 8#200_000#;
   No_Link          : constant := 8#400_000#;
   Close_On_Execute : constant := 8#2_000_000#;
   By_Path_Only     : constant := 8#10_000_000#;

   function C_Open_At (Folder : int; Path : char_array; Flags : int) return int
     with Import, Convention => C_Variadic_3, External_Name => "openat";

   function C_Create_At
     (Folder : int; Path : char_array; Flags : int; Mode : unsigned) return int
     with Import, Convention => C_Variadic_3, External_Name => "openat";

   At_Working_Directory : constant := -100;

   Write_Only : constant := 1;
   To_Create  : constant := 8#100#;
   To_Append  : constant := 8#2_000#;

   --  errno.h; the values are the same on all machines

   No_Memory         : constant := 12;
   System_Files_Used : constant := 23;
   Our_Files_Used    : constant := 24;

   procedure Open
     (Folder : int;
      Name   : String;
      Flags  : int;
      Into   : out Descriptor;
      Result : out Failure)
   is
      File : int;
   begin
      File := C_Open_At (Folder, To_C (Name), Flags + Close_On_Execute);
      Into := (if File < 0 then No_File else Descriptor (File));
      Result :=
        (if File >= 0 then None
         elsif GNAT.OS_Lib.Errno in No_Memory | System_Files_Used | Our_Files_Used then Not_Now
         else Not_There);
   end Open;

   procedure Open_To_Append (Path : String; Into : out Descriptor; Result : out Failure) is
      File : constant int := C_Create_At
        (At_Working_Directory, To_C (Path),
         Write_Only + To_Create + To_Append + Close_On_Execute, 8#640#);
   begin
      Into   := (if File < 0 then No_File else Descriptor (File));
      Result := (if File < 0 then Not_There else None);
   end Open_To_Append;

   procedure Open_Folder (Path : String; Into : out Descriptor; Result : out Failure) is
   begin
      Open (At_Working_Directory, Path, By_Path_Only + Is_Folder, Into, Result);
   end Open_Folder;

   procedure Open_Folder_In
     (Folder : Descriptor; Name : String; Into : out Descriptor; Result : out Failure) is
   begin
      Open (int (Folder), Name, By_Path_Only + Is_Folder + No_Link, Into, Result);
   end Open_Folder_In;

   --  Opening a named pipe does not wait

   procedure Open_File_In
     (Folder : Descriptor; Name : String; Into : out Descriptor; Result : out Failure) is
   begin
      Open (int (Folder), Name, Non_Blocking + No_Link, Into, Result);
   end Open_File_In;

   function Refuses_Links return Boolean is

      function Is_Refused (Path : String; Flags : int) return Boolean is
         File   : Descriptor;
         Result : Failure;
      begin
         Open (At_Working_Directory, Path, Flags, File, Result);
         if Result = None then
            Linux.Close (File);
         end if;
         return Result /= None;
      end Is_Refused;

   --  A link, something that is no folder, and what is neither of them

   begin
      return Is_Refused ("/proc/self", No_Link)
        and then Is_Refused ("/dev/null", Is_Folder + By_Path_Only)
        and then not Is_Refused ("/dev/null", Non_Blocking + No_Link)
        and then not Is_Refused ("/", By_Path_Only + Is_Folder + No_Link);
   end Refuses_Links;

   -------------
   -- Looking --
   -------------

   --  struct statx, which is the same on all machines

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

   Empty_Path : constant := 16#1000#;
   Wanted     : constant := 16#1# + 16#2# + 16#40# + 16#200#;
   --  Kind, mode, time of modification, size

   function C_Statx
     (Folder : int; Path : char_array; Flags : int; Mask : unsigned; Data : out Statx_Data)
      return int
     with Import, Convention => C, External_Name => "statx";

   Kind_Mask    : constant := 8#170_000#;
   Kind_Regular : constant := 8#100_000#;
   Kind_Folder  : constant := 8#040_000#;

   procedure Look (File : Descriptor; Facts : out File_Facts; Result : out Failure) is
      Data : Statx_Data;
   begin
      if C_Statx (int (File), To_C (""), Empty_Path, Wanted, Data) /= 0 then
         Facts  := (Size => 0, Changed => 0, Fraction => 0, others => False);
         Result := Not_There;
      else
         Facts  :=
           (Is_Regular => (Data.Mode and Kind_Mask) = Kind_Regular,
            Is_Folder  => (Data.Mode and Kind_Mask) = Kind_Folder,
            Size       => Byte_Count (Data.Size),
            Changed    => Data.Modified.Seconds,
            Fraction   => Data.Modified.Nanoseconds);
         Result := None;
      end if;
   end Look;

end Appserver.HTTP.Linux_Files;
