--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  A lock that, without contention, is acquired and released with one atomic exchange each. An
--  entry of a protected object costs ten times as much, and handlers must not run in protected
--  procedures.

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
   --  The state of a lock that a task holds while other tasks may be waiting. See Ulrich Drepper,
   --  "Futexes are tricky", 2011, section 6.

   type Lock is limited record
      State : aliased Linux.Word := Is_Free;
   end record;

end Appserver.HTTP.Locks;
