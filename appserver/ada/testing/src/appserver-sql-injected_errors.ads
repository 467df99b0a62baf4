--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  For tests: raises errors as databases do.

pragma Ada_2022;

package Appserver.SQL.Injected_Errors is

   procedure Fail
     (State   : SQL_State;
      Code    : Integer      := 0;
      Message : UTF_8_String := "injected";
      Origin  : Error_Origin := From_PostgreSQL)
     with No_Return;
   --  Raises an error.
   --  @param State its SQLSTATE
   --  @param Code its code
   --  @param Message its message
   --  @param Origin the database that it seems to come from
   --  @exception SQL_Error always

   procedure Drop_Connection with No_Return;
   --  Raises the error of a connection whose server has stopped responding.
   --  @exception SQL_Error always, 08006

end Appserver.SQL.Injected_Errors;
