--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Files of a folder, as the responses to GET: with their type, their time and an entity tag,
--  conditional requests (RFC 9110, section 13) and ranges (section 14). The kernel sends them; they
--  are not read.
--
--  A path leads to a regular file below the folder, or to 404: one with an empty name in it, a name
--  that begins with a dot, as ".." does, a backslash, or a byte that is zero, encoded or not, leads
--  nowhere, and no symbolic link is followed. There are no listings of folders, but a folder may
--  have an index file, and a file may have compressed ones beside it.

pragma Ada_2022;

private with Ada.Finalization;

package Appserver.HTTP.Files is

   pragma Assertion_Policy (Pre => Check, Pre'Class => Check);

   Folder_Error : exception;
   --  The folder does not exist; the message names it

   type Folder is tagged limited private;
   --  Closed at first. Any number of tasks may answer from one that is open.

   type Folder_Options is record
      Cache_Control : Constant_Text := null;
      --  The field Cache-Control of all responses for a file, also 304: "public, max-age=3600"
      Index         : Constant_Text := null;
      --  The name of the file that a path stands for that ends with "/". Without the "/" a folder's
      --  path is answered with 301.
      Precompressed : Boolean := False;
      --  For NAME, NAME.br or NAME.gz are sent to clients that accept that coding at least as much
      --  as none. A program that changes NAME has to change them too.
   end record;

   function Is_Name (Name : String) return Boolean is
     (Name'Length in 1 .. 255
      and then Name (Name'First) /= '.'
      and then (for all C of Name => C not in '/' | '\' | ASCII.NUL));
   --  True if a file or folder of that name is served

   procedure Open
     (Self : in out Folder; Path : String; Options : Folder_Options := (others => <>))
     with Pre  => not Self.Is_Open
                    and then (Options.Cache_Control = null
                              or else Is_Field_Value (Options.Cache_Control.all))
                    and then (Options.Index = null or else Is_Name (Options.Index.all)),
          Post => Self.Is_Open;
   --  Path may be a symbolic link, and the folder may be renamed after it

   procedure Close (Self : in out Folder)
     with Post => not Self.Is_Open;

   function Is_Open (Self : Folder) return Boolean;

   function Respond
     (Self : Folder; Request : HTTP.Request; Prefix : String) return Response
     with Pre => Self.Is_Open
                   and then Request.Path_Starts_With (Prefix)
                   and then not Request.Builder.Has_File;
   --  The file that the request's path names after Prefix, such as "/files/". If several ranges are
   --  requested at once, the whole file is sent.

   function Media_Type_Of (Name : String) return not null Constant_Text;
   --  Determined by the extension; application/octet-stream if that is unknown

private

   type Folder is new Ada.Finalization.Limited_Controlled with record
      File    : Descriptor := No_File;
      Options : Folder_Options;
   end record;

   overriding procedure Finalize (Self : in out Folder);

   function Is_Open (Self : Folder) return Boolean is (Self.File /= No_File);

end Appserver.HTTP.Files;
