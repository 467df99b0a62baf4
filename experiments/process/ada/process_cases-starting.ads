--  SPDX-License-Identifier: Apache-2.0
--
--  Cases with programs that start successfully, that cannot be started, or that do not end in time

package Process_Cases.Starting is

   type Start_Case is limited new Process_Case with private;
   --  A case that starts a program and waits for its exit

   overriding procedure Operate (Self : in out Start_Case; Check : in out Check_Value);

   type Fail_Case is limited new Process_Case with private;
   --  A case that tries to start a program that does not exist

   overriding procedure Operate (Self : in out Fail_Case; Check : in out Check_Value);

   type Kill_Case is limited new Process_Case with private;
   --  A case that kills a program that does not end in time, together with its child process

   overriding procedure Operate (Self : in out Kill_Case; Check : in out Check_Value);

   overriding function Metric (Self : Kill_Case) return String is ("kill_time");

private

   type Start_Case is limited new Process_Case with null record;
   type Fail_Case is limited new Process_Case with null record;
   type Kill_Case is limited new Process_Case with null record;

end Process_Cases.Starting;
