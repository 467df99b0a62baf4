--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  tls_client TARGET MODE AUTHORITY STATEMENT RESPONSE_TIMEOUT prints the statement's first value,
--  or the error, for mariadb_tls.py. The response timeout is in seconds.

with Ada.Command_Line;
with Ada.Text_IO;
with Appserver.SQL.MariaDB;

procedure TLS_Client is

   use Ada.Command_Line;
   use Ada.Text_IO;
   use Appserver.SQL;

   DB    : aliased MariaDB.Connection;
   Query : MariaDB.Statement;

begin
   DB.Open
     (Argument (1),
      Response_Timeout => Duration'Value (Argument (5)),
      TLS              => MariaDB.TLS_Mode'Value (Argument (2)),
      Authority        => Argument (3));
   Query.Prepare_Client_Side (DB, Argument (4));
   if Query.Step then
      Put_Line (Query.As_Text (1));
   end if;
exception
   when Error : SQL_Error =>
      Put_Line (State_Of (Error) & " " & Message_Of (Error));
end TLS_Client;
