--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Bulkheads, which limit the number of concurrent calls, so that a slow service does not occupy
--  all tasks. A call has one of Max_Calls permits from its start to its end. Callers wait for a
--  permit in the order in which they arrive.

pragma Ada_2022;

private with Ada.Finalization;

package Appserver.Resilience.Bulkheads is

   type Bulkhead (Max_Calls : Positive) is tagged limited private;

   procedure Run
     (Self      : aliased in out Bulkhead;
      Operation : not null access procedure;
      Max_Wait  : Pause := 0.0);
   --  Runs an operation as soon as a permit is free. If the task is aborted, the wait ends, or the
   --  permit is returned.
   --  @param Self the bulkhead
   --  @param Operation the operation
   --  @param Max_Wait the maximum time in seconds to wait for a permit
   --  @exception Bulkhead_Full_Error no permit was free in time; the operation was not run

   function Running (Self : Bulkhead) return Natural;
   --  @param Self the bulkhead
   --  @return the number of operations that are running

   function Waiting (Self : Bulkhead) return Natural;
   --  @param Self the bulkhead
   --  @return the number of callers that wait for a permit

private

   protected type Permits (Max_Calls : Positive) is
      entry Enter (Is_Held : not null access Boolean);
      --  Acquires a permit. Sets Is_Held in the same protected action, so an abort cannot occur
      --  between these two steps.
      procedure Leave;
      function Running return Natural;
      function Waiting return Natural;
   private
      Held : Natural := 0;
   end Permits;

   type Bulkhead (Max_Calls : Positive) is tagged limited record
      Permits : Bulkheads.Permits (Max_Calls);
   end record;

   type Permit (Of_Bulkhead : not null access Bulkhead) is
     new Ada.Finalization.Limited_Controlled with record
      Is_Held : aliased Boolean := False;
   end record;

   overriding procedure Finalize (Self : in out Permit);

   function Running (Self : Bulkhead) return Natural is (Self.Permits.Running);
   function Waiting (Self : Bulkhead) return Natural is (Self.Permits.Waiting);

end Appserver.Resilience.Bulkheads;
