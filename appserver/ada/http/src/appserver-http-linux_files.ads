--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Opens Linux files by descriptor: openat(2), statx(2).

pragma Ada_2022;

with Interfaces;

private package Appserver.HTTP.Linux_Files is

   type Failure is (None, Missing, Out_Of_Resources);
   --  The reason that a file cannot be opened. Missing: the file does not exist, or the process has
   --  no permission to open it. Out_Of_Resources: the system has no descriptors or no memory.

   procedure Open_Folder (Path : String; Into : out Descriptor; Result : out Failure);
   --  Opens a directory. Follows symbolic links, since the path comes from the program and not from
   --  a client.

   procedure Open_To_Append (Path : String; Into : out Descriptor; Result : out Failure);
   --  Opens a file for appending. If the file does not exist, creates it with write permission for
   --  the owner and read permission for the group.

   procedure Open_Folder_In
     (Folder : Descriptor; Name : String; Into : out Descriptor; Result : out Failure);
   procedure Open_File_In
     (Folder : Descriptor; Name : String; Into : out Descriptor; Result : out Failure);
   --  Open an entry of a directory. If the entry is a symbolic link, Result is Missing.

   type File_Facts is record
      Is_Regular : Boolean;
      Is_Folder  : Boolean;
      Size       : Byte_Count;
      Changed    : Interfaces.Integer_64;
      --  The modification time in seconds since 1970
      Fraction   : Interfaces.Unsigned_32;
      --  The fraction of a second to add to Changed, in nanoseconds
   end record;

   procedure Look (File : Descriptor; Facts : out File_Facts; Result : out Failure);

   type File_Identity is record
      Device : Interfaces.Unsigned_64 := 0;
      Inode  : Interfaces.Unsigned_64 := 0;
   end record;
   --  The numbers that distinguish a file from every other existing file

   type Path_Kind is (Nothing, Socket, Other);

   procedure Look_At_Path (Path : String; Kind : out Path_Kind; Identity : out File_Identity);
   --  Looks at a file without opening it, and does not follow a symbolic link at the end of Path.
   --  Sets Kind to Nothing if the file does not exist or cannot be seen.

   function Refuses_Links return Boolean;
   --  Returns True if the kernel supports the flags of openat(2) that reject symbolic links

end Appserver.HTTP.Linux_Files;
