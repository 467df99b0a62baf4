--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  A background task that frees memory that writers could not free immediately. The task frees
--  this memory even if no task calls the cache again.

pragma Ada_2022;

with Ada.Finalization;

private package Appserver.Reclaimers is

   type Owner is abstract new Ada.Finalization.Limited_Controlled with private;

   procedure Reclaim (Self : in out Owner; Is_Done : out Boolean) is abstract;
   --  Frees memory. The background task calls this procedure within about 0.1 s after Request, and
   --  repeats the call until Is_Done is True.

   procedure Request (Self : in out Owner'Class) with Inline;
   --  Asks the background task to call Reclaim. If a request is already pending, this procedure
   --  only reads a variable.

   procedure Withdraw (Self : in out Owner'Class);
   --  Removes Self from the background task's list. The task does not use Self after this call. The
   --  finalization of Self calls this procedure.
   --
   --  If the task is running Self's Reclaim, waits for it to return. The wait has no timeout: the
   --  freed objects may have types declared in the scope that is being left, and Ada requires that
   --  all objects of such a type are finalized before the scope is left. Reclaim does not hold a
   --  lock for long and does not wait for readers, so the wait lasts only as long as the
   --  finalization of the elements that Reclaim frees. Without the background task, Self would have
   --  to finalize the same elements.

private

   type Owner_Access is access all Owner'Class;

   type Owner is abstract new Ada.Finalization.Limited_Controlled with record
      Is_Listed : Boolean := False with Atomic;
      Next      : Owner_Access := null;
   end record;

   procedure Add (Self : in out Owner'Class);

end Appserver.Reclaimers;
