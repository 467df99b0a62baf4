--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Serves the files of a directory for GET requests, with media type, modification time and entity
--  tag. Supports conditional requests (RFC 9110, section 13) and ranges (section 14). The kernel
--  sends the files without copying them through the program.
--
--  Only regular files inside the directory are served. The response is 404 for any other path, and
--  for paths that contain an empty name, a name that begins with a dot, such as "..", a backslash,
--  a zero byte (encoded or not), or a symbolic link. There are no directory listings, but a
--  directory may have an index file, and a file may have compressed versions next to it.

pragma Ada_2022;

private with Ada.Finalization;

package Appserver.HTTP.Files is

   pragma Assertion_Policy (Pre => Check, Pre'Class => Check);

   Folder_Error : exception;
   --  The directory cannot be opened; the message contains its name. Also raised if the kernel
   --  cannot reject symbolic links.

   type Folder is tagged limited private;
   --  A directory whose files are served. Initially closed. Any number of tasks may serve files
   --  from an open folder concurrently.

   type Folder_Options is record
      Cache_Control : Constant_Text := null;
      --  The header field Cache-Control of all responses for a file, including 304, such as
      --  "public, max-age=3600"; null for none
      Index         : Constant_Text := null;
      --  The name of the index file, which is served for a path that ends with "/"; null for none.
      --  The path of a directory without a final "/" is redirected with 301.
      Precompressed : Boolean := False;
      --  True to send NAME.br or NAME.gz instead of NAME to clients that accept this encoding with
      --  at least the same weight as the uncompressed file. A program that changes NAME must also
      --  update the compressed files.
   end record;

   function Is_Name (Name : String) return Boolean is
     (Name'Length in 1 .. 255
      and then Name (Name'First) /= '.'
      and then (for all C of Name => C not in '/' | '\' | ASCII.NUL));
   --  Checks the name of a file or directory.
   --  @param Name the name
   --  @return True if a file of that name can be served

   procedure Open
     (Self : in out Folder; Path : String; Options : Folder_Options := (others => <>))
     with Pre  => (not Self.Is_Open
                     and then (Options.Cache_Control = null
                               or else Is_Field_Value (Options.Cache_Control.all))
                     and then (Options.Index = null or else Is_Name (Options.Index.all)))
                  or else raise Misuse_Error with "the folder is open, or its options are invalid",
          Post => Self.Is_Open;
   --  Opens a directory. The directory may be renamed while the folder is open.
   --  @param Self the folder
   --  @param Path the path of the directory, which may be a symbolic link
   --  @param Options the options
   --  @exception Folder_Error the directory cannot be opened

   procedure Close (Self : in out Folder)
     with Post => not Self.Is_Open;
   --  Closes the folder.
   --  @param Self the folder

   function Is_Open (Self : Folder) return Boolean;
   --  @param Self the folder
   --  @return True between Open and Close

   function Respond
     (Self : Folder; Request : HTTP.Request; Prefix : String) return Response
     with Pre => (Self.Is_Open
                    and then Request.Path_Starts_With (Prefix)
                    and then not Request.Builder.Has_File)
                 or else raise Misuse_Error with
                   "the folder is closed, the path does not have the prefix, or a file is attached";
   --  Creates the response to a request for a file. The response to a request for multiple ranges
   --  contains the whole file.
   --  @param Self the folder
   --  @param Request the request
   --  @param Prefix the prefix of the path before the file name, such as "/files/"
   --  @return the response

   function Media_Type_Of (Name : String) return not null Constant_Text;
   --  Returns the media type for a file name extension.
   --  @param Name the name of the file
   --  @return the media type; application/octet-stream for an unknown extension

private

   type Folder is new Ada.Finalization.Limited_Controlled with record
      File    : Descriptor := No_File;
      Options : Folder_Options;
   end record;

   overriding procedure Finalize (Self : in out Folder);

   function Is_Open (Self : Folder) return Boolean is (Self.File /= No_File);

end Appserver.HTTP.Files;
