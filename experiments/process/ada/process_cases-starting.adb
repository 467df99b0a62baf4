--  SPDX-License-Identifier: Apache-2.0

with Ada.Real_Time;
with Benchlab.Kernel;

package body Process_Cases.Starting is

   Nothing : constant Check_Value := Hash ("");

   overriding procedure Operate (Self : in out Start_Case; Check : in out Check_Value) is
      pragma Unreferenced (Self);
      Child  : Process;
      Status : Exit_Status;
   begin
      Child.Start ("/bin/true", Options => Silent);
      Child.Wait (Status);
      Check := Check + Nothing + Number (Status);
   end Operate;

   overriding procedure Operate (Self : in out Fail_Case; Check : in out Check_Value) is
      pragma Unreferenced (Self);
      Child : Process;
   begin
      Child.Start ("/bin/no-such-program", Options => Silent);
      raise Output_Error with "a program that does not exist was started";
   exception
      when Start_Error =>
         Check := Check + 1;
   end Operate;

   --  The output ends when both processes have exited

   overriding procedure Operate (Self : in out Kill_Case; Check : in out Check_Value) is
      use Ada.Real_Time;
      use type Kernel.Nanoseconds;
      Limit  : constant Time := Clock + Milliseconds (5);
      Killed : Kernel.Nanoseconds;
      Child  : Process;
      Status : Exit_Status;
   begin
      Child.Start ("/bin/sh", ["-c", "/bin/sleep 60 & exec /bin/sleep 60"], Writing);
      begin
         Child.Wait (Status, Timeout => Duration'Max (0.0, To_Duration (Limit - Clock)));
         raise Output_Error with "/bin/sh exited before its timeout";
      exception
         when Timeout_Error =>
            Killed := Kernel.Monotonic_Time;
      end;
      Child.Kill;
      Child.Wait (Status);
      if Child.Read_All /= "" then
         raise Output_Error with "/bin/sh wrote unexpected output";
      end if;
      Self.Measure (Fields.Metric_Value (Kernel.Monotonic_Time - Killed));
      Check := Check + Nothing + Number (Status);
   end Operate;

end Process_Cases.Starting;
