--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  For tests: errors as databases raise them.

pragma Ada_2022;

package Appserver.SQL.Injected_Errors is

   procedure Fail
     (State   : SQL_State;
      Code    : Integer      := 0;
      Message : UTF_8_String := "injected";
      Origin  : Error_Origin := From_PostgreSQL)
     with No_Return;

   procedure Drop_Connection with No_Return;
   --  As if the server had stopped responding: SQL_Error, 08006

end Appserver.SQL.Injected_Errors;
