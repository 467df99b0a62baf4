--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Which tasks read, so that what they may still see is not freed: epoch-based reclamation (Keir
--  Fraser, "Practical lock-freedom", 2004, 5.2.3). Each thread writes to a slot of its own, which
--  it takes with its first read and leaves with its end; slots are used again.

pragma Ada_2022;

with Interfaces;

private package Appserver.Reader_Slots is

   subtype Epoch is Interfaces.Unsigned_64;

   procedure Enter with Inline;
   procedure Leave with Inline;
   --  The calling thread reads in between, and may do so in a nested way. Both take a fixed number
   --  of steps, except a thread's first Enter.

   function New_Epoch return Epoch;
   --  For what was unlinked before the call

   function Oldest_Reader return Epoch;
   --  All readers that entered before this epoch began have left: what was unlinked for an epoch up
   --  to it may be freed

end Appserver.Reader_Slots;
