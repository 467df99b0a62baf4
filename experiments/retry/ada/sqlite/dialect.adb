--  SPDX-License-Identifier: Apache-2.0

package body Dialect is

   procedure Set_Up (DB : in out Database.Connection) is
   begin
      DB.Set_Busy_Timeout (1.0);
   end Set_Up;

   procedure Read_Back
     (DB        : in out Database.Connection;
      Arguments : Benchlab.Fields.Field_List;
      Settings  : in out Benchlab.Fields.Field_List)
   is
      Query : Database.Statement;
   begin
      Database.Read_Back (DB, Arguments, Settings);
      Query.Prepare_Client_Side (DB, "PRAGMA busy_timeout");
      Settings.Add ("busy_timeout", (if Query.Step then Query.As_Text (1) else ""));
   end Read_Back;

end Dialect;
