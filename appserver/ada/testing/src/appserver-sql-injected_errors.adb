--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

pragma Ada_2022;

package body Appserver.SQL.Injected_Errors is

   procedure Fail
     (State   : SQL_State;
      Code    : Integer      := 0;
      Message : UTF_8_String := "injected";
      Origin  : Error_Origin := From_PostgreSQL) is
   begin
      Raise_Error (State, Code, Message, Origin);
   end Fail;

   procedure Drop_Connection is
   begin
      Fail ("08006", Message => "the connection was lost");
   end Drop_Connection;

end Appserver.SQL.Injected_Errors;
