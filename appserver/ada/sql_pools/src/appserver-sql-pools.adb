--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

pragma Ada_2022;

package body Appserver.SQL.Pools is

   use type Ada.Real_Time.Time;

   procedure Open_Session (Self : in out Pooled_Session) is
   begin
      Open (Self.Session.DB);
      Self.Opened   := Ada.Real_Time.Clock;
      Self.Returned := Self.Opened;
   end Open_Session;

   procedure Close_Session (Self : in out Pooled_Session) is
   begin
      Self.Session.Close;
   end Close_Session;

   function Since (Start : Ada.Real_Time.Time) return Duration is
     (Ada.Real_Time.To_Duration (Ada.Real_Time.Clock - Start));

   --  An exception says no, too

   procedure Validate_Session (Self : in out Pooled_Session; Is_Valid : in out Boolean) is
      DB : Connection renames Self.Session.DB.Element.all;
   begin
      if not DB.Is_Open
        or else not DB.Is_Connected
        or else (Longest_Life < Duration'Last and then Since (Self.Opened) >= Longest_Life)
      then
         Is_Valid := False;
      elsif Since (Self.Returned) >= Check_After then
         DB.Execute ("SELECT 1");
      end if;
   end Validate_Session;

   --  An exception closes the session

   procedure Reset_Session (Self : in out Pooled_Session) is
      DB : Connection renames Self.Session.DB.Element.all;
   begin
      if not DB.Is_Open or else not DB.Is_Connected then
         raise SQL_Error with "the connection was lost";
      elsif Self.Session.Is_Used then
         raise Misuse_Error with "a statement is in use after its lease";
      elsif not DB.In_Autocommit then
         SQL.Connection'Class (DB).Roll_Back;
      end if;
      Self.Returned := Ada.Real_Time.Clock;
   end Reset_Session;

end Appserver.SQL.Pools;
