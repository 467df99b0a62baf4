--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  A task that frees, a little later, memory that could not be freed at once. So nothing is left
--  over when no other call comes that would free it.

pragma Ada_2022;

with Ada.Finalization;

private package Appserver.Reclaimers is

   type Owner is abstract new Ada.Finalization.Limited_Controlled with private;

   procedure Reclaim (Self : in out Owner; Is_Done : out Boolean) is abstract;
   --  Called by the task within about a tenth of a second of Request, and again until Is_Done

   procedure Request (Self : in out Owner'Class) with Inline;
   --  Only reads a variable if it was requested already

   procedure Withdraw (Self : in out Owner'Class);
   --  The task does not use Self after this. Called before its finalization.

private

   type Owner_Access is access all Owner'Class;

   type Owner is abstract new Ada.Finalization.Limited_Controlled with record
      Is_Listed : Boolean := False with Atomic;
      Next      : Owner_Access := null;
   end record;

   procedure Add (Self : in out Owner'Class);

end Appserver.Reclaimers;
