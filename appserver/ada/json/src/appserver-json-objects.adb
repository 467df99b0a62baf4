--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

pragma Ada_2022;

with Ada.Characters.Handling;

package body Appserver.JSON.Objects is

   Max_Length : constant := 64;

   type Member_Name is record
      Text   : String (1 .. Max_Length);
      Length : Natural range 0 .. Max_Length;
   end record;

   function Name_Of (Current : Member) return Member_Name is
      Image : constant String := Ada.Characters.Handling.To_Lower (Current'Image);
   begin
      return Result : Member_Name := (Text => <>, Length => Image'Length) do
         Result.Text (1 .. Image'Length) := Image;
      end return;
   end Name_Of;

   type Name_List is array (Member) of Member_Name;

   --  Not an iterated aggregate: programs of Ada 2012 could not instantiate this package.

   function All_Names return Name_List is
   begin
      return Result : Name_List do
         for Current in Member loop
            Result (Current) := Name_Of (Current);
         end loop;
      end return;
   end All_Names;

   Names : constant Name_List := All_Names;

   type Marks is array (Member) of Boolean;

   --  Finds the member with the current name. Members are usually in the order of the type, so the
   --  search begins after the member that was found last.

   procedure Find
     (JSON  : Readers.Reader;
      Source : String;
      Current : in out Member;
      Found   : out Boolean) is
   begin
      for Tries in Names'Range loop
         Current := (if Current = Member'Last then Member'First else Member'Succ (Current));
         Found   := JSON.Name_Is (Source, Names (Current).Text (1 .. Names (Current).Length));
         exit when Found;
      end loop;
   end Find;

   procedure Read (Into : in out Value; JSON : in out Readers.Reader; Source : String) is
      Read_Members : Marks := [others => False];
      Current      : Member := Member'Last;
      Found        : Boolean;
   begin
      JSON.Enter_Object (Source);
      while JSON.Next_Name (Source) loop
         Find (JSON, Source, Current, Found);
         if not Found then
            JSON.Skip (Source);
         elsif Read_Members (Current) then
            JSON.Fail (Readers.Repeated_Member);
         else
            Read_Members (Current) := True;
            Read_Member (Into, Current, JSON, Source);
         end if;
      end loop;
      if not (for all Is_Read of Read_Members => Is_Read) then
         JSON.Fail (Readers.Missing_Member);
      end if;
   end Read;

end Appserver.JSON.Objects;
