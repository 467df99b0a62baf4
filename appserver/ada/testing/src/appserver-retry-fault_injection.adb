--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

pragma Ada_2022;

package body Appserver.Retry.Fault_Injection is

   --  Each action is run once, by the first commit

   First_Before : Counters.Atomic.Counter;
   First_After  : Counters.Atomic.Counter;

   procedure Before_Commit is
      use type Counters.Integer_64;
   begin
      if First_Before.Fetch_And_Add (1) = 0 then
         Before_First_Commit;
      end if;
   end Before_Commit;

   procedure After_Commit is
      use type Counters.Integer_64;
   begin
      if First_After.Fetch_And_Add (1) = 0 then
         After_First_Commit;
      end if;
   end After_Commit;

end Appserver.Retry.Fault_Injection;
