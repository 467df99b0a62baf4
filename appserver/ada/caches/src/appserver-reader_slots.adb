--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

pragma Ada_2022;

with Interfaces.C;
with System.Atomic_Operations.Exchange;
with System.Atomic_Operations.Modular_Arithmetic;

package body Appserver.Reader_Slots is

   use Interfaces;
   use Interfaces.C;

   type Atomic_Epoch is mod 2 ** 64 with Size => 64, Atomic;
   type Atomic_Flag is mod 2 ** 32 with Size => 32, Atomic;

   package Epochs is new System.Atomic_Operations.Modular_Arithmetic (Atomic_Epoch);
   package Flags is new System.Atomic_Operations.Exchange (Atomic_Flag);

   Not_Reading : constant Atomic_Epoch := 0;

   type Slot;
   type Slot_Access is access Slot;
   pragma No_Strict_Aliasing (Slot_Access);

   type Slot is limited record
      Entered  : aliased Atomic_Epoch := Not_Reading;
      Depth    : Natural := 0;
      Is_Owned : aliased Atomic_Flag := 1;
      Next     : Slot_Access := null;
   end record
     with Alignment => 128;
   --  A pair of cache lines

   type Atomic_Slot is new Slot_Access with Atomic;

   package Heads is new System.Atomic_Operations.Exchange (Atomic_Slot);

   Current : aliased Atomic_Epoch := 1;
   Slots   : aliased Atomic_Slot := null;
   --  A list to which slots are only added

   Mine : Slot_Access := null with Thread_Local_Storage;

   ------------------
   -- Thread's end --
   ------------------

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
      Found : constant Slot_Access := Free_Slot;
   begin
      Mine := (if Found = null then Added_Slot else Found);
      Mine.Depth := 0;
      if C_Set_Specific (Key, Mine) /= 0 then
         raise Storage_Error with "pthread_setspecific";
      end if;
   end Take_Slot;

   -------------
   -- Readers --
   -------------

   --  Entering is sequentially consistent: the slot is written before the table is read, so a
   --  writer that does not see it there has unlinked before the reader looks.

   procedure Enter is
   begin
      if Mine = null then
         Take_Slot;
      end if;
      if Mine.Depth = 0 then
         Mine.Entered := Current;
      end if;
      Mine.Depth := Mine.Depth + 1;
   end Enter;

   --  Release: reading comes before it

   Release : constant := 3;

   procedure Atomic_Store (Place : System.Address; Value : Unsigned_64; Order : Integer)
     with Import, Convention => Intrinsic, External_Name => "__atomic_store_8";

   procedure Leave is
   begin
      Mine.Depth := Mine.Depth - 1;
      if Mine.Depth = 0 then
         Atomic_Store (Mine.Entered'Address, Epoch (Not_Reading), Release);
      end if;
   end Leave;

   -------------
   -- Writers --
   -------------

   function New_Epoch return Epoch is
     (Epoch (Epochs.Atomic_Fetch_And_Add (Current, 1)) + 1);

   function Oldest_Reader return Epoch is
      Result : Epoch := Epoch (Current);
      Slot   : Slot_Access := Slot_Access (Slots);
      Since  : Epoch;
   begin
      while Slot /= null loop
         Since := Epoch (Slot.Entered);
         if Since /= Epoch (Not_Reading) then
            Result := Epoch'Min (Result, Since);
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
