--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Raises SQL_Error in tests, as the database drivers do.

pragma Ada_2022;

package Appserver.SQL.Injected_Errors is

   procedure Fail
     (State   : SQL_State;
      Code    : Integer      := 0;
      Message : UTF_8_String := "injected";
      Origin  : Error_Origin := From_PostgreSQL)
     with No_Return;
   --  Raises an error.
   --  @param State the SQLSTATE of the error
   --  @param Code the code of the error
   --  @param Message the message of the error
   --  @param Origin the origin of the error
   --  @exception SQL_Error always

   procedure Drop_Connection with No_Return;
   --  Raises the error that a driver raises when its server has stopped responding.
   --  @exception SQL_Error always, with state 08006

end Appserver.SQL.Injected_Errors;
