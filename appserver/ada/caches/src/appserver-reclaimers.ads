--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  A task that frees memory which could not be freed at once, a little later. So nothing is left
--  over when no later call frees it.

pragma Ada_2022;

with Ada.Finalization;

private package Appserver.Reclaimers is

   type Owner is abstract new Ada.Finalization.Limited_Controlled with private;

   procedure Reclaim (Self : in out Owner; Is_Done : out Boolean) is abstract;
   --  Called by the task within about a tenth of a second of Request, and again until Is_Done

   procedure Request (Self : in out Owner'Class) with Inline;
   --  Only reads a variable if there already is a request

   procedure Withdraw (Self : in out Owner'Class);
   --  The task does not use Self after this. Called by the finalization of Self.
   --
   --  Waits while the task is in Self's Reclaim. This is not limited: what it frees may have types
   --  of the scope that is being left, and Ada finalizes all objects of a type before that. Reclaim
   --  takes no lock for long and waits for no reader, so the wait lasts as long as the finalization
   --  of the elements that it frees, which are as many as Self itself would finalize otherwise.

private

   type Owner_Access is access all Owner'Class;

   type Owner is abstract new Ada.Finalization.Limited_Controlled with record
      Is_Listed : Boolean := False with Atomic;
      Next      : Owner_Access := null;
   end record;

   procedure Add (Self : in out Owner'Class);

end Appserver.Reclaimers;
