--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  A lock that costs one atomic exchange to take and one to release as long as nobody waits for it.
--  A protected object's entry costs ten times that, and its procedures may not run handlers.

pragma Ada_2022;

with Appserver.HTTP.Linux;

private package Appserver.HTTP.Locks is

   type Lock is limited private;

   procedure Acquire (Self : in out Lock) with Inline;
   procedure Release (Self : in out Lock) with Inline;

private

   Is_Free      : constant Linux.Word := 0;
   Is_Taken     : constant Linux.Word := 1;
   Is_Contended : constant Linux.Word := 2;
   --  Taken, and someone may wait. Ulrich Drepper, "Futexes are tricky", 2011, section 6.

   type Lock is limited record
      State : aliased Linux.Word := Is_Free;
   end record;

end Appserver.HTTP.Locks;
