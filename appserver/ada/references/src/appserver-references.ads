--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Reference-counted references to elements on the heap, and atomic references, which tasks can
--  get, set and update concurrently without losing each other's changes.
--
--     package Settings_References is new Appserver.References (Settings);
--     Current : Settings_References.Atomic_Reference;
--     …
--     Current.Set (New_Reference (new Settings'(Port => 80, others => <>)));
--     …
--     Serve (Current.Get.Value.Port);
--
--  Elements are freed exactly once, even when exceptions or task aborts end the scopes of
--  references. Only the abort of a task inside a function that returns a reference can leak an
--  element. If tasks may be aborted, use procedures such as Set and Get instead of these functions.
--
--  Cycles of references are never freed. The finalization of an element must not raise exceptions.

pragma Ada_2022;

private with Ada.Finalization;

generic
   type Element_Type (<>) is limited private;
package Appserver.References is

   pragma Assertion_Policy (Pre => Check);

   type Element_Access is access Element_Type;

   type Constant_View (Element : not null access constant Element_Type) is limited null record
     with Implicit_Dereference => Element;

   type Variable_View (Element : not null access Element_Type) is limited null record
     with Implicit_Dereference => Element;

   ---------------
   -- Reference --
   ---------------

   type Reference is tagged private;
   --  A reference to an element, or null. The initial value is null. Only one task at a time may
   --  use a reference object, but tasks may use copies of it concurrently.

   Null_Reference : constant Reference;

   function Is_Null (Self : Reference) return Boolean;
   --  @param Self the reference
   --  @return True if the reference does not refer to an element

   overriding function "=" (Left, Right : Reference) return Boolean;
   --  @param Left a reference
   --  @param Right another reference
   --  @return True if both refer to the same element

   function New_Reference (Element : not null Element_Access) return Reference
     with Post => not New_Reference'Result.Is_Null;
   --  Creates a reference. The reference and its copies own the element.
   --  @param Element an element allocated with "new", which the program must not free
   --  @return the reference

   procedure Create
     (Self : in out Reference; Make : not null access function return not null Element_Access)
     with Post => not Self.Is_Null;
   --  Sets a reference to a new element. The task cannot be aborted during the call, so the element
   --  cannot leak.
   --  @param Self the reference
   --  @param Make returns the element

   procedure Clear (Self : in out Reference)
     with Post => Self.Is_Null;
   --  Sets a reference to null.
   --  @param Self the reference

   function Value (Self : Reference) return Constant_View
     with Inline, Pre => not Self.Is_Null or else raise Misuse_Error with "the reference is null";
   --  Returns a read-only view of the element.
   --  @param Self the reference
   --  @return a view, valid as long as Self exists and refers to the same element

   function Variable (Self : Reference) return Variable_View
     with Inline, Pre => not Self.Is_Null or else raise Misuse_Error with "the reference is null";
   --  Returns a variable view of the element. Use this for elements that tasks may change
   --  concurrently, such as protected objects.
   --  @param Self the reference
   --  @return a view, valid as long as Self exists and refers to the same element

   ----------------------
   -- Atomic reference --
   ----------------------

   --  The nested package is necessary, because in Ada a subprogram cannot be a primitive operation
   --  of two tagged types

   package Atomic is

      type Atomic_Reference is tagged limited private;
      --  A reference that tasks can replace atomically, initially null. Any number of tasks may
      --  call the subprograms concurrently. The calls are lock-free, and take effect in one order
      --  that is the same for all tasks. Get is one atomic addition. A task that gets an element
      --  sees all memory writes to the element made before Set.

      function Get (Self : in out Atomic_Reference) return Reference;
      --  @param Self the atomic reference
      --  @return a reference to the current element

      procedure Get (Self : in out Atomic_Reference; Into : in out Reference);
      --  Gets a reference to the current element, at a lower cost than the function.
      --  @param Self the atomic reference
      --  @param Into set to refer to the current element

      procedure Set (Self : in out Atomic_Reference; To : Reference);
      --  Sets the current element.
      --  @param Self the atomic reference
      --  @param To a reference to the new element

      procedure Compare_And_Set
        (Self     : in out Atomic_Reference;
         Expected : Reference;
         To       : Reference;
         Is_Set   : out Boolean);
      --  Sets the current element if the current element is the expected element (compare and set).
      --  @param Self the atomic reference
      --  @param Expected a reference to the expected element
      --  @param To a reference to the new element
      --  @param Is_Set True if the element was set

      procedure Update
        (Self   : in out Atomic_Reference;
         Change : not null access function (Old : Reference) return Element_Access);
      --  Replaces the current element with an element that Change computes from it. If another task
      --  sets Self in the meantime, calls Change again with the new element, so no change is lost.
      --  If Change raises an exception, Self does not change.
      --  @param Self the atomic reference
      --  @param Change returns a new element, or null to leave Self unchanged. The task cannot be
      --  aborted during Change.

   private

      type State_Word is mod 2 ** 64 with Size => 64, Atomic;

      type Padded_Word is limited record
         Word : aliased State_Word := 0;
      end record
        with Alignment => 128;
      --  The record is aligned to a pair of cache lines to avoid false sharing, since each Get
      --  writes to the record's word

      type Atomic_Reference is new Ada.Finalization.Limited_Controlled with record
         State : Padded_Word;
      end record;

      overriding procedure Finalize (Self : in out Atomic_Reference);

   end Atomic;

   subtype Atomic_Reference is Atomic.Atomic_Reference;

private

   type Reference_Count is mod 2 ** 64 with Size => 64, Atomic;

   type Cell is limited record
      Count   : aliased Reference_Count;
      Element : Element_Access;
   end record;

   type Cell_Access is access Cell;
   pragma No_Strict_Aliasing (Cell_Access);
   --  Atomic references convert addresses to this type

   type Reference is new Ada.Finalization.Controlled with record
      Cell : Cell_Access := null;
   end record;

   overriding procedure Adjust (Self : in out Reference);
   overriding procedure Finalize (Self : in out Reference);

   Null_Reference : constant Reference := (Ada.Finalization.Controlled with Cell => null);

   function Is_Null (Self : Reference) return Boolean is (Self.Cell = null);

   overriding function "=" (Left, Right : Reference) return Boolean is (Left.Cell = Right.Cell);

   function Value (Self : Reference) return Constant_View is
     (Element => Self.Cell.Element);

   function Variable (Self : Reference) return Variable_View is
     (Element => Self.Cell.Element);

end Appserver.References;
