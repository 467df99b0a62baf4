--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Started by Process_Tests as a separate program, since the system calls of a whole process are
--  held

with Ada.Exceptions;
with Ada.Text_IO;
with GNAT.OS_Lib;
with Held_Starts;

procedure Hanging_Starts is
begin
   Held_Starts.Test;
   GNAT.OS_Lib.OS_Exit (0);
exception
   when Error : others =>
      Ada.Text_IO.Put_Line (Ada.Exceptions.Exception_Information (Error));
      GNAT.OS_Lib.OS_Exit (1);
end Hanging_Starts;
