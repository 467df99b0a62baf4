--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

pragma Ada_2022;

with Appserver.SQL.Time_Limits;

package body Appserver.SQL.Pools is

   use type Ada.Real_Time.Time;

   procedure Open_Session (Self : in out Pooled_Session) is
   begin
      Open (Self.Session.DB);
      Set_Up (Self.Session.DB);
      Self.Returned := Ada.Real_Time.Clock;
   end Open_Session;

   function Since (Start : Ada.Real_Time.Time) return Duration is
     (Ada.Real_Time.To_Duration (Ada.Real_Time.Clock - Start));

   procedure Validate_Session (Self : in out Pooled_Session; Is_Valid : in out Boolean) is
      DB : Connection renames Self.Session.DB.Element.all;
   begin
      Is_Valid := DB.Is_Open and then DB.Is_Connected;
   end Validate_Session;

   A_Day : constant Duration := 86_400.0;

   function After (Timeout : Duration) return Ada.Real_Time.Time is
     (Ada.Real_Time.Clock + Ada.Real_Time.To_Time_Span (Duration'Min (Timeout, A_Day)));

   --  An exception also means that the session is not valid

   procedure Probe_Session
     (Self     : in out Pooled_Session;
      Timeout  : Duration;
      Is_Valid : in out Boolean)
   is
      pragma Unreferenced (Is_Valid);
      DB    : Connection renames Self.Session.DB.Element.all;
      Limit : Time_Limits.Time_Limit;
   begin
      if Since (Self.Returned) >= Validate_After then
         Limit.Start (DB, After (Duration'Min (Timeout, Validation_Timeout)));
         DB.Execute ("SELECT 1");
         Self.Returned := Ada.Real_Time.Clock;
      end if;
   end Probe_Session;

   --  An exception closes the session. Waits for a Cancel in progress, since it could stop an
   --  operation of the next lease.

   procedure Reset_Session (Self : in out Pooled_Session) is
      Deadline : constant Ada.Real_Time.Time := After (Validation_Timeout);
      DB       : Connection renames Self.Session.DB.Element.all;
      Limit    : Time_Limits.Time_Limit;
   begin
      Time_Limits.Await_Cancels (DB, Deadline);
      if not DB.Is_Open or else not DB.Is_Connected then
         raise SQL_Error with "the connection was lost";
      elsif Self.Session.Is_Used then
         raise Misuse_Error with "a statement is still in use after the end of its lease";
      end if;
      if Resets_Sessions or else not DB.In_Autocommit then
         Limit.Start (DB, Deadline);
      end if;
      if not DB.In_Autocommit then
         SQL.Connection'Class (DB).Roll_Back;
      end if;
      if Resets_Sessions then
         SQL.Connection'Class (DB).Reset_Session;
         Set_Up (DB);
      end if;
      Self.Returned := Ada.Real_Time.Clock;
   end Reset_Session;

   --  Closing a statement reads the rows that the server still sends, so this needs a time limit

   procedure Close_Session (Self : in out Pooled_Session) is
      Limit : Time_Limits.Time_Limit;
   begin
      Limit.Start_Or_Cut_Off (Self.Session.DB.Element.all, After (Validation_Timeout));
      Self.Session.Close;
   end Close_Session;

end Appserver.SQL.Pools;
