--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Checks the contracts of SQL in a program that, like the library, is compiled without -gnata

with Ada.Calendar;
with Ada.Exceptions;
with Appserver.SQL.SQLite;

procedure Contracts_As_User is

   use Appserver.SQL;

   DB    : SQLite.Connection;
   Query : SQLite.Statement;
   Day   : Date := (2024, 2, 29);

   procedure Is_Refused (Value : Date; Words : String) is
   begin
      Query.Bind (1, Value);
      raise Program_Error with "not refused: " & Words;
   exception
      when Error : Appserver.Misuse_Error =>
         if Ada.Exceptions.Exception_Message (Error) /= Words then
            raise;
         end if;
   end Is_Refused;

begin
   DB.Open (":memory:");
   Query.Prepare (DB, "SELECT ?");
   Query.Bind (1, Day);
   Day.Year := 2023;
   Is_Refused (Day, "the day does not exist");
   Is_Refused ((Ada.Calendar.Year (Ada.Calendar.Clock), 2, 30), "the day does not exist");
end Contracts_As_User;
