--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  A program's handler of PostgreSQL's notices.

with Appserver.SQL;

package Received_Notices is

   use Appserver;

   procedure Receive (State : SQL.SQL_State; Message : SQL.UTF_8_String);
   --  Counts a notice. Raises Program_Error if the notice contains the word "exception".

   procedure Clear;

   function Count return Natural;

   function Latest return String;
   --  Returns the state, a space, and the message of the latest notice

end Received_Notices;
