--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

with Ada.Command_Line;
with Ada.Directories;
with Ada.Exceptions;
with Ada.Strings.Fixed;
with AUnit.Assertions;

package body Checks is

   use AUnit.Assertions;

   function Contains (Text, Words : String) return Boolean is
     (Words = "" or else Ada.Strings.Fixed.Index (Text, Words) > 0);

   procedure Is_Refused
     (Act : not null access procedure; State : SQL.SQL_State; Words : String := "") is
   begin
      begin
         Act.all;
      exception
         when Error : SQL.SQL_Error =>
            Assert (SQL.State_Of (Error), State, "SQLSTATE of: " & SQL.Message_Of (Error));
            Assert
              (Contains (SQL.Message_Of (Error), Words),
               "the message does not contain """ & Words & """: " & SQL.Message_Of (Error));
            return;
      end;
      Assert (False, "expected SQL_Error " & State & ", but there was no exception");
   end Is_Refused;

   procedure Is_Misuse (Act : not null access procedure; Words : String) is
   begin
      begin
         Act.all;
      exception
         when Error : Appserver.Misuse_Error =>
            Assert
              (Contains (Ada.Exceptions.Exception_Message (Error), Words),
               "the message does not contain """ & Words & """: "
               & Ada.Exceptions.Exception_Message (Error));
            return;
      end;
      Assert (False, "expected Misuse_Error: " & Words & ", but there was no exception");
   end Is_Misuse;

   procedure Answers (DB : in out SQL.Connection'Class; Query, Text : String) is
      Cursor : SQL.Statement'Class := DB.Prepare_Client_Side (Query);
   begin
      Assert (Cursor.Step, "a row of: " & Query);
      Assert (Cursor.As_Text (1), Text, Query);
   end Answers;

   function Since (Start : Ada.Real_Time.Time) return Duration is
     (Ada.Real_Time.To_Duration (Ada.Real_Time."-" (Ada.Real_Time.Clock, Start)));

   procedure Remove (Path : String) is
   begin
      if Ada.Directories.Exists (Path) then
         Ada.Directories.Delete_File (Path);
      end if;
   end Remove;

   function File_Name (Name : String) return String is
      Path : constant String := Ada.Command_Line.Argument (1) & "/" & Name;
   begin
      Remove (Path);
      Remove (Path & "-journal");
      Remove (Path & "-wal");
      Remove (Path & "-shm");
      return Path;
   end File_Name;

end Checks;
