--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Files of Linux, by descriptor: openat(2), statx(2).

pragma Ada_2022;

with Interfaces;

private package Appserver.HTTP.Linux_Files is

   type Failure is (None, Missing, Out_Of_Resources);
   --  Missing: no such file, or no permission to open it. Out_Of_Resources: no descriptors or no
   --  memory.

   procedure Open_Folder (Path : String; Into : out Descriptor; Result : out Failure);
   --  Follows symbolic links: the path is from the program, not from a client

   procedure Open_To_Append (Path : String; Into : out Descriptor; Result : out Failure);
   --  Creates the file if it does not exist, for its owner to write and its group to read

   procedure Open_Folder_In
     (Folder : Descriptor; Name : String; Into : out Descriptor; Result : out Failure);
   procedure Open_File_In
     (Folder : Descriptor; Name : String; Into : out Descriptor; Result : out Failure);
   --  Name is an entry of Folder. A symbolic link is Missing.

   type File_Facts is record
      Is_Regular : Boolean;
      Is_Folder  : Boolean;
      Size       : Byte_Count;
      Changed    : Interfaces.Integer_64;
      --  In seconds since 1970
      Fraction   : Interfaces.Unsigned_32;
      --  Fraction of the second, in ns
   end record;

   procedure Look (File : Descriptor; Facts : out File_Facts; Result : out Failure);

   function Refuses_Links return Boolean;
   --  True if this system gives the flags that are used here their intended meaning

end Appserver.HTTP.Linux_Files;
