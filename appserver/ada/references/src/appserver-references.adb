--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

pragma Ada_2022;

with Ada.Unchecked_Conversion;
with Ada.Unchecked_Deallocation;
with System.Atomic_Operations.Exchange;
with System.Atomic_Operations.Modular_Arithmetic;
with System.Storage_Elements;

package body Appserver.References is

   use System.Storage_Elements;

   --  All operations are sequentially consistent. This includes the two orderings that reference
   --  counting needs: the release of a reference comes after all uses of its element, and the
   --  element is freed after all releases.

   package Counting is new System.Atomic_Operations.Modular_Arithmetic (Reference_Count);

   use Counting;

   procedure Free is new Ada.Unchecked_Deallocation (Element_Type, Element_Access);
   procedure Free is new Ada.Unchecked_Deallocation (Cell, Cell_Access);

   -----------
   -- Cells --
   -----------

   --  Takes ownership of the element immediately: frees it if there is no memory for the cell

   function New_Cell (Element : not null Element_Access) return not null Cell_Access is
      Unowned : Element_Access := Element;
   begin
      return new Cell'(Count => 1, Element => Element);
   exception
      when Storage_Error =>
         Free (Unowned);
         raise;
   end New_Cell;

   procedure Take (Cell : Cell_Access; Count : Reference_Count) is
   begin
      if Cell /= null then
         Atomic_Add (Cell.Count, Count);
      end if;
   end Take;

   --  The caller must defer aborts, since an abort could leave the element partly freed

   procedure Release (Cell : Cell_Access; Count : Reference_Count) is
      Last : Cell_Access := Cell;
   begin
      if Cell /= null and then Atomic_Fetch_And_Subtract (Cell.Count, Count) = Count then
         Free (Last.Element);
         Free (Last);
      end if;
   end Release;

   ----------------
   -- References --
   ----------------

   overriding procedure Adjust (Self : in out Reference) is
   begin
      Take (Self.Cell, 1);
   end Adjust;

   overriding procedure Finalize (Self : in out Reference) is
      Cell : constant Cell_Access := Self.Cell;
   begin
      Self.Cell := null;
      Release (Cell, 1);
   end Finalize;

   function New_Reference (Element : not null Element_Access) return Reference is
   begin
      return Result : Reference do
         Result.Cell := New_Cell (Element);
      end return;
   end New_Reference;

   procedure Clear (Self : in out Reference) is
   begin
      pragma Abort_Defer;
      Finalize (Self);
   end Clear;

   procedure Create
     (Self : in out Reference; Make : not null access function return not null Element_Access) is
   begin
      pragma Abort_Defer;
      declare
         Created : constant not null Cell_Access := New_Cell (Make.all);
      begin
         Finalize (Self);
         Self.Cell := Created;
      end;
   end Create;

   -----------------------
   -- Atomic references --
   -----------------------

   package body Atomic is

      package Arithmetic is new System.Atomic_Operations.Modular_Arithmetic (State_Word);
      package Exchange is new System.Atomic_Operations.Exchange (State_Word);

      use Arithmetic;
      use Exchange;

      --  The low bits of the state are the address of the cell, and the high bits the number of
      --  references that Get has handed out. When a cell is set, Batch references are added to its
      --  count in advance, for Get to hand out. So one atomic addition both reads the address and
      --  counts the reference. When the cell is replaced, the remaining references are subtracted
      --  again. (Split reference counts: Anthony Williams, "C++ Concurrency in Action", 2012,
      --  7.2.4; with a batch, as in folly's AtomicSharedPtr.)

      Address_Bits : constant := 48;
      --  The address bits of user space, unless a process requests more (Linux, "5-level paging";
      --  arm64 memory layout)

      One_Reference : constant State_Word := 2 ** Address_Bits;
      Batch         : constant State_Word := 2 ** (64 - Address_Bits);

      Refill_At     : constant State_Word := Batch / 4;
      --  The remaining references are for tasks that call Get during a refill

      function To_Cell is new Ada.Unchecked_Conversion (Integer_Address, Cell_Access);

      function Cell_Of (State : State_Word) return Cell_Access is
        (To_Cell (Integer_Address (State mod One_Reference)));

      function Taken_Count (State : State_Word) return State_Word is (State / One_Reference);

      subtype Low_Address is Integer_Address range 0 .. 2 ** Address_Bits - 1;

      function State_Of (Cell : Cell_Access) return State_Word is
        (if Cell = null then 0 else State_Word (Low_Address'(To_Integer (Cell.all'Address))));
      --  Raises Constraint_Error for an address with more than Address_Bits bits

      --  Adds the references that were handed out to the count of the cell. The caller has a
      --  reference to the cell, so the cell is not freed. If the cell is set again in the meantime,
      --  the counts are still correct.

      procedure Refill (Self : in out Atomic_Reference; Cell : not null Cell_Access) is
         Observed : aliased State_Word := Self.State.Word;
      begin
         while Cell_Of (Observed) = Cell and then Taken_Count (Observed) >= Refill_At loop
            declare
               Amount : constant State_Word := Taken_Count (Observed);
            begin
               Atomic_Add (Cell.Count, Reference_Count (Amount));
               exit when Atomic_Compare_And_Exchange
                 (Self.State.Word, Observed, Observed - Amount * One_Reference);
               Atomic_Subtract (Cell.Count, Reference_Count (Amount));
            end;
         end loop;
      end Refill;

      --  For null, the number of references overflows the word, which is harmless

      function Acquired_Cell (Self : in out Atomic_Reference) return Cell_Access is
         Before : constant State_Word := Atomic_Fetch_And_Add (Self.State.Word, One_Reference);
         Cell   : constant Cell_Access := Cell_Of (Before);
      begin
         if Taken_Count (Before) >= Refill_At and then Cell /= null then
            Refill (Self, Cell);
         end if;
         return Cell;
      end Acquired_Cell;

      procedure Release (State : State_Word) is
      begin
         Release (Cell_Of (State), Reference_Count (Batch - Taken_Count (State)));
      end Release;

      function Get (Self : in out Atomic_Reference) return Reference is
      begin
         return Result : Reference do
            Result.Cell := Acquired_Cell (Self);
         end return;
      end Get;

      procedure Get (Self : in out Atomic_Reference; Into : in out Reference) is
      begin
         pragma Abort_Defer;
         Finalize (Into);
         Into.Cell := Acquired_Cell (Self);
      end Get;

      procedure Set (Self : in out Atomic_Reference; To : Reference) is
         State : constant State_Word := State_Of (To.Cell);
      begin
         pragma Abort_Defer;
         Take (To.Cell, Reference_Count (Batch));
         Release (Atomic_Exchange (Self.State.Word, State));
      end Set;

      procedure Compare_And_Set
        (Self     : in out Atomic_Reference;
         Expected : Reference;
         To       : Reference;
         Is_Set   : out Boolean)
      is
         State    : constant State_Word := State_Of (To.Cell);
         Observed : aliased State_Word := Self.State.Word;
      begin
         pragma Abort_Defer;
         Is_Set := False;
         Take (To.Cell, Reference_Count (Batch));
         while not Is_Set and then Cell_Of (Observed) = Expected.Cell loop
            Is_Set := Atomic_Compare_And_Exchange (Self.State.Word, Observed, State);
         end loop;
         if Is_Set then
            Release (Observed);
         else
            Release (To.Cell, Reference_Count (Batch));
         end if;
      end Compare_And_Set;

      procedure Update
        (Self   : in out Atomic_Reference;
         Change : not null access function (Old : Reference) return Element_Access) is
      begin
         pragma Abort_Defer;
         declare
            Old, Changed : Reference;
            Is_Set       : Boolean := False;
         begin
            while not Is_Set loop
               Self.Get (Into => Old);
               declare
                  Element : constant Element_Access := Change (Old);
               begin
                  exit when Element = null;
                  Finalize (Changed);
                  Changed.Cell := New_Cell (Element);
               end;
               Self.Compare_And_Set (Old, Changed, Is_Set);
            end loop;
         end;
      end Update;

      overriding procedure Finalize (Self : in out Atomic_Reference) is
      begin
         Release (Atomic_Exchange (Self.State.Word, 0));
      end Finalize;

   end Atomic;

end Appserver.References;
