--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Tracks the tables that tasks are reading, so that writers free only nodes that no task can still
--  see. This is epoch-based reclamation (Keir Fraser, "Practical lock-freedom", 2004, 5.2.3), with
--  separate epochs for each table. Each thread writes to its own slot. A thread acquires its slot
--  at its first read and releases it when the thread exits. Slots are reused.

pragma Ada_2022;

private package Appserver.Reader_Slots is

   type Stamp is mod 2 ** 64 with Size => 64, Atomic;
   --  The epoch of a table, with the ID of the table in the low bits. Later epochs of the same
   --  table have larger values.

   function New_Table_Stamp return Stamp;

   procedure Begin_Epoch (Current : in out Stamp);
   --  Starts a new epoch. Only one writer at a time may call this procedure, after unlinking nodes.

   type Slot is limited private;
   type Slot_Access is access Slot;

   function Enter (Table : Stamp) return Slot_Access;
   procedure Leave (Slot : Slot_Access) with Inline_Always;
   --  Begin and end a read by the calling thread. Reads may be nested. Pass the result of Enter,
   --  which is null for a nested read, to the matching Leave. Enter and Leave take a fixed number
   --  of steps, except for a thread's first Enter.

   function Quick_Slot return Slot_Access with Inline_Always;
   procedure Enter_Quickly (Slot : not null Slot_Access; Table : Stamp) with Inline_Always;
   --  Begin a read in a few instructions, without a memory barrier. Quick_Slot returns null if the
   --  thread has not read before, is already reading, or needs a memory barrier; then call Enter.

   function Oldest_Reader (Current : Stamp) return Stamp;
   --  Returns the earliest epoch in which a reader of the table may have entered. Readers that
   --  entered before this epoch have left, so nodes that were unlinked before it may be freed.

private

   type Atomic_Flag is mod 2 ** 32 with Size => 32, Atomic;

   Not_Reading : constant Stamp := 0;

   type Slot is limited record
      Entered  : aliased Stamp := Not_Reading;
      Is_Owned : aliased Atomic_Flag := 1;
      Next     : Slot_Access := null;
   end record
     with Alignment => 128;
   --  The state of one reading thread, which occupies a pair of cache lines to avoid false sharing

   pragma No_Strict_Aliasing (Slot_Access);

end Appserver.Reader_Slots;
