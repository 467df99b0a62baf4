--  SPDX-License-Identifier: Apache-2.0
--
--  Programs that are started, cannot be started, or do not end in time

package Process_Cases.Starting is

   type Start_Case is limited new Process_Case with private;
   --  From the start of a program to its exit

   overriding procedure Operate (Self : in out Start_Case; Check : in out Check_Value);

   type Fail_Case is limited new Process_Case with private;
   --  A program that is not there

   overriding procedure Operate (Self : in out Fail_Case; Check : in out Check_Value);

   type Kill_Case is limited new Process_Case with private;
   --  A program that does not end in time is killed, with the one that it started

   overriding procedure Operate (Self : in out Kill_Case; Check : in out Check_Value);

   overriding function Metric (Self : Kill_Case) return String is ("kill_time");

private

   type Start_Case is limited new Process_Case with null record;
   type Fail_Case is limited new Process_Case with null record;
   type Kill_Case is limited new Process_Case with null record;

end Process_Cases.Starting;
