--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

pragma Ada_2022;

with Interfaces.C;
with System.Atomic_Operations.Exchange;
with System.Atomic_Operations.Modular_Arithmetic;

package body Appserver.Reader_Slots is

   pragma Suppress (Access_Check);

   use Interfaces;
   use Interfaces.C;

   package Numbers is new System.Atomic_Operations.Modular_Arithmetic (Stamp);
   package Flags is new System.Atomic_Operations.Exchange (Atomic_Flag);

   type Atomic_Slot is new Slot_Access with Atomic;

   package Heads is new System.Atomic_Operations.Exchange (Atomic_Slot);

   Tables : aliased Stamp := 0;
   --  The number of tables created so far

   Slots  : aliased Atomic_Slot := null;
   --  A list of slots, from which slots are never removed

   Thread_Slot   : Slot_Access := null with Thread_Local_Storage;
   Unfenced_Slot : Slot_Access := null with Thread_Local_Storage;
   --  Equal to Thread_Slot, but null if readers need a barrier

   ------------
   -- Stamps --
   ------------

   Epoch_Unit : constant Stamp := 2 ** 16;
   --  The other bits allow 2 ** 48 epochs of 64 writes each. At ten million writes per second,
   --  these epochs last 57 years.

   function Number_Of (Table : Stamp) return Stamp is (Table mod Epoch_Unit);

   All_Tables : constant Stamp := Epoch_Unit;
   --  No table has the number 0

   ----------------
   -- Membarrier --
   ----------------

   --  Call membarrier(2) for the whole process; return 0 on success

   function C_Register return int
     with Import, Convention => C, External_Name => "appserver_register_membarrier";
   function C_Membarrier return int
     with Import, Convention => C, External_Name => "appserver_membarrier";

   Readers_Need_Barrier : constant Boolean := C_Register /= 0;
   --  True if the kernel does not support membarrier, or does not permit it

   --------------------
   -- End of threads --
   --------------------

   type Thread_Key is new unsigned;

   function C_Key_Create
     (Key : out Thread_Key; At_End : not null access procedure (Slot : Slot_Access)) return int
     with Import, Convention => C, External_Name => "pthread_key_create";
   function C_Set_Specific (Key : Thread_Key; Slot : Slot_Access) return int
     with Import, Convention => C, External_Name => "pthread_setspecific";

   procedure Give_Up (Slot : Slot_Access) with Convention => C;

   procedure Give_Up (Slot : Slot_Access) is
   begin
      Slot.Entered := Not_Reading;
      Slot.Is_Owned := 0;
   end Give_Up;

   Key : Thread_Key;

   ----------
   -- Slot --
   ----------

   function Free_Slot return Slot_Access is
      Slot : Slot_Access := Slot_Access (Slots);
   begin
      while Slot /= null loop
         declare
            Unowned : aliased Atomic_Flag := 0;
         begin
            exit when Flags.Atomic_Compare_And_Exchange (Slot.Is_Owned, Unowned, 1);
         end;
         Slot := Slot.Next;
      end loop;
      return Slot;
   end Free_Slot;

   function Added_Slot return Slot_Access is
      Result : constant Slot_Access := new Slot;
      First  : aliased Atomic_Slot := Slots;
   begin
      loop
         Result.Next := Slot_Access (First);
         exit when Heads.Atomic_Compare_And_Exchange (Slots, First, Atomic_Slot (Result));
      end loop;
      return Result;
   end Added_Slot;

   procedure Take_Slot with No_Inline;

   procedure Take_Slot is
      Found : Slot_Access;
   begin
      pragma Abort_Defer;  --  an abort would leak the slot
      Found := Free_Slot;
      Thread_Slot := (if Found = null then Added_Slot else Found);
      Unfenced_Slot := (if Readers_Need_Barrier then null else Thread_Slot);
      if C_Set_Specific (Key, Thread_Slot) /= 0 then
         raise Storage_Error with "pthread_setspecific";
      end if;
   end Take_Slot;

   -------------
   -- Readers --
   -------------

   Relaxed : constant := 0;
   Release : constant := 3;
   Total   : constant := 5;
   --  Sequentially consistent. These are memory orders of GCC's built-in functions.

   procedure Atomic_Store (Place : System.Address; Value : Unsigned_64; Order : Integer)
     with Import, Convention => Intrinsic, External_Name => "__atomic_store_8";
   procedure Compiler_Barrier (Order : Integer)
     with Import, Convention => Intrinsic, External_Name => "__atomic_signal_fence";

   function Quick_Slot return Slot_Access is
      Slot : constant Slot_Access := Unfenced_Slot;
   begin
      return (if Slot = null or else Slot.Entered /= Not_Reading then null else Slot);
   end Quick_Slot;

   --  A writer unlinks nodes, calls membarrier, and then reads the slots. It sees each slot that
   --  was written before the barrier took effect in the reader's thread. A reader that reads after
   --  that does not find unlinked nodes (Desnoyers et al., IEEE TPDS 23 (2), 2012).

   procedure Enter_Quickly (Slot : not null Slot_Access; Table : Stamp) is
   begin
      Atomic_Store (Slot.Entered'Address, Unsigned_64 (Table), Relaxed);
      Compiler_Barrier (Total);
   end Enter_Quickly;

   --  Without membarrier, the sequentially consistent assignment is the memory barrier. If a read
   --  of another table is nested in a read, the thread counts as a reader of all tables until the
   --  outer read ends.

   function Enter (Table : Stamp) return Slot_Access is
   begin
      if Thread_Slot = null then
         Take_Slot;
      elsif Thread_Slot.Entered /= Not_Reading then
         if Number_Of (Thread_Slot.Entered) /= Number_Of (Table) then
            Thread_Slot.Entered := All_Tables;
         end if;
         return null;
      end if;
      Thread_Slot.Entered := Table;
      return Thread_Slot;
   end Enter;

   --  A release store: all reads of the table come before it

   procedure Leave (Slot : Slot_Access) is
   begin
      if Slot /= null then
         Atomic_Store (Slot.Entered'Address, Unsigned_64 (Not_Reading), Release);
      end if;
   end Leave;

   -------------
   -- Writers --
   -------------

   procedure Begin_Epoch (Current : in out Stamp) is
   begin
      Current := Current + Epoch_Unit;
   end Begin_Epoch;

   --  If two tables have the same ID, the readers of one table only delay freeing the memory of the
   --  other table

   function New_Table_Stamp return Stamp is
     (Epoch_Unit + 1 + Numbers.Atomic_Fetch_And_Add (Tables, 1) mod (Epoch_Unit - 1));

   function Oldest_Reader (Current : Stamp) return Stamp is
      Result : Stamp := Current;
      Slot   : Slot_Access := Slot_Access (Slots);
      Since  : Stamp;
   begin
      if not Readers_Need_Barrier and then C_Membarrier /= 0 then
         return Stamp'First;  --  now forbidden (seccomp): readers may be missed
      end if;
      while Slot /= null loop
         Since := Slot.Entered;
         if Since = All_Tables then
            Result := Stamp'First;
         elsif Since /= Not_Reading and then Number_Of (Since) = Number_Of (Current) then
            Result := Stamp'Min (Result, Since);
         end if;
         Slot := Slot.Next;
      end loop;
      return Result;
   end Oldest_Reader;

begin
   if C_Key_Create (Key, Give_Up'Access) /= 0 then
      raise Storage_Error with "pthread_key_create";
   end if;
end Appserver.Reader_Slots;
