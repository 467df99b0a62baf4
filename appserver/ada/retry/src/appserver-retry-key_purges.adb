--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

pragma Ada_2022;

package body Appserver.Retry.Key_Purges is

   use type SQL.Integer_64;

   --  Opens a new connection for each purge, since a server may close an idle connection

   procedure Purge
     (Expiry : Key_Tables.Age; Stop : not null access Cancellation; Deleted : out SQL.Integer_64)
   is
      DB   : Connection;
      Rows : SQL.Integer_64;
   begin
      Deleted := 0;
      Open (DB);
      loop
         Key_Tables.Delete_Older (Key_Table, DB, Expiry, Rows, Max_Rows);
         Deleted := Deleted + Rows;
         exit when Rows < SQL.Integer_64 (Max_Rows) or else Stop.Is_Cancelled;
      end loop;
      DB.Close;
   end Purge;

   procedure Run
     (Expiry     : Key_Tables.Age;
      Interval   : Pause;
      Stop       : not null access Cancellation;
      On_Purge   : access procedure (Deleted : SQL.Integer_64)                     := null;
      On_Failure : access procedure (Error : Ada.Exceptions.Exception_Occurrence) := null)
   is
      Deleted : SQL.Integer_64;
   begin
      while not Stop.Is_Cancelled loop
         begin
            Purge (Expiry, Stop, Deleted);
            if On_Purge /= null then
               On_Purge (Deleted);
            end if;
         exception
            when Error : SQL.SQL_Error =>
               if On_Failure /= null then
                  On_Failure (Error);
               end if;
         end;
         Wait (Interval, Stop);
      end loop;
   end Run;

end Appserver.Retry.Key_Purges;
