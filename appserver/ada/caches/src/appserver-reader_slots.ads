--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Tracks which tasks read which table, so that nothing they may still see is freed: epoch-based
--  reclamation (Keir Fraser, "Practical lock-freedom", 2004, 5.2.3), with epochs of each table.
--  Each thread writes to a slot of its own. It takes the slot at its first read and gives it up
--  when it ends; slots are reused.

pragma Ada_2022;

private package Appserver.Reader_Slots is

   type Stamp is mod 2 ** 64 with Size => 64, Atomic;
   --  The epoch of a table, with the number of the table in the low bits. A later epoch of the same
   --  table is larger.

   function New_Table_Stamp return Stamp;

   procedure Begin_Epoch (Current : in out Stamp);
   --  Called by one writer at a time, after it has unlinked nodes

   type Slot is limited private;
   type Slot_Access is access Slot;

   function Enter (Table : Stamp) return Slot_Access;
   procedure Leave (Slot : Slot_Access) with Inline_Always;
   --  Bracket a read of the calling thread. Reads may be nested: Leave takes what its Enter
   --  returned, which is null for a nested read. Both take a fixed number of steps, except for a
   --  thread's first Enter.

   function Quick_Slot return Slot_Access with Inline_Always;
   procedure Enter_Quickly (Slot : not null Slot_Access; Table : Stamp) with Inline_Always;
   --  The same in a few instructions, without a barrier. Quick_Slot is null if the thread has not
   --  read before, is reading, or needs a barrier.

   function Oldest_Reader (Current : Stamp) return Stamp;
   --  Readers of the table that entered before this epoch began have left, so nodes that were
   --  unlinked before it may be freed

private

   type Atomic_Flag is mod 2 ** 32 with Size => 32, Atomic;

   Not_Reading : constant Stamp := 0;

   type Slot is limited record
      Entered  : aliased Stamp := Not_Reading;
      Is_Owned : aliased Atomic_Flag := 1;
      Next     : Slot_Access := null;
   end record
     with Alignment => 128;
   --  A pair of cache lines

   pragma No_Strict_Aliasing (Slot_Access);

end Appserver.Reader_Slots;
