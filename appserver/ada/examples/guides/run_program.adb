--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Runs a program and reads its output: run_program SECONDS PROGRAM [ARGUMENT...]

with Ada.Command_Line;
with Ada.Exceptions;
with Ada.Strings.Unbounded;
with Ada.Text_IO;
with Appserver.Processes;

procedure Run_Program is

   use Ada.Command_Line;
   use Ada.Strings.Unbounded;
   use Ada.Text_IO;
   use Appserver.Processes;

   function Arguments return String_List is
   begin
      return List : String_List do
         for Number in 3 .. Argument_Count loop
            List.Append (Argument (Number));
         end loop;
      end return;
   end Arguments;

   Result : Outcome;

begin
   Result := Run (Argument (2), Arguments, Timeout => Duration'Value (Argument (1)));
   Put_Line
     (case Result.Status.Kind is
         when Exited   => "exit code" & Result.Status.Code'Image,
         when Signaled => "killed by signal" & Result.Status.Signal'Image);
   Put_Line ("output:" & Length (Result.Output)'Image & " bytes");
   Put_Line ("errors:" & Length (Result.Error)'Image & " bytes");
   Put (To_String (Head (Result.Output, Natural'Min (Length (Result.Output), 200))));
exception
   when Timeout_Error =>
      Put_Line ("timeout: the program and its children were killed");
   when Error : Start_Error | Output_Error =>
      Put_Line (Ada.Exceptions.Exception_Message (Error));
end Run_Program;
