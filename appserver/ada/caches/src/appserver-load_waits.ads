--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Tracks the tasks that wait for other tasks' loads, across all caches. This detects cycles, since
--  loads that wait for each other would never end.

pragma Ada_2022;

with Ada.Finalization;
with Ada.Task_Identification;

private package Appserver.Load_Waits is

   type Atomic_Flag is new Boolean with Atomic;

   type Wait (Has_Ended : not null access Atomic_Flag) is
     new Ada.Finalization.Limited_Controlled with private;
   --  The current task's wait for another task's load. The wait ends when this object leaves its
   --  scope. The loading task sets Has_Ended before it wakes the waiting tasks.

   procedure Start
     (Self : in out Wait; Loader : Ada.Task_Identification.Task_Id; Is_Cycle : out Boolean);
   --  Starts a wait for Loader. Sets Is_Cycle to True if Loader already waits for the current task,
   --  directly or through other tasks.

private

   type Wait_Access is access all Wait;

   type Wait (Has_Ended : not null access Atomic_Flag) is
     new Ada.Finalization.Limited_Controlled with record
      Waiter, Loader : Ada.Task_Identification.Task_Id;
      Is_Listed      : Boolean := False;
      Next           : Wait_Access := null;
   end record;

   overriding procedure Finalize (Self : in out Wait);

end Appserver.Load_Waits;
