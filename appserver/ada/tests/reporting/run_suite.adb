--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

with Ada.Command_Line;
with Ada.Text_IO;
with Ada_Containers;
with AUnit.Options;
with AUnit.Reporter.Text;
with AUnit.Run;
with AUnit.Test_Results;

procedure Run_Suite is

   package Closing is
      type Reporter is new AUnit.Reporter.Text.Text_Reporter with null record;

      overriding procedure Report
        (Engine  : Reporter;
         R       : in out AUnit.Test_Results.Result'Class;
         Options : AUnit.Options.AUnit_Options := AUnit.Options.Default_Options);
   end Closing;

   package body Closing is
      overriding procedure Report
        (Engine  : Reporter;
         R       : in out AUnit.Test_Results.Result'Class;
         Options : AUnit.Options.AUnit_Options := AUnit.Options.Default_Options)
      is
         use type Ada_Containers.Count_Type;

         Passed : constant Ada_Containers.Count_Type := R.Success_Count;
         Failed : constant Ada_Containers.Count_Type := R.Failure_Count + R.Error_Count;
      begin
         AUnit.Reporter.Text.Text_Reporter (Engine).Report (R, Options);
         Ada.Text_IO.Put_Line ("ada:" & Passed'Image & " passed," & Failed'Image & " failed");
         if Failed > 0 or else Passed = 0 then
            Ada.Command_Line.Set_Exit_Status (Ada.Command_Line.Failure);
         end if;
      end Report;
   end Closing;

   procedure Run is new AUnit.Run.Test_Runner (Suite);

   Reporter : Closing.Reporter;
begin
   Run (Reporter, (AUnit.Options.Default_Options with delta Report_Successes => False));
end Run_Suite;
