--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Counters that any number of tasks can use without losing updates.
--
--     Appserver.Counters.Atomic   one atomic word: the default choice
--     Appserver.Counters.Striped  one word per stripe: for many writers and few readers
--     Appserver.Counters.Locked   a protected object
--
--  Calls on objects of these types do not dispatch, and are inlined with -gnatn2.
--
--  Values have the range of Integer_64, and wrap around modulo 2**64 in every build. A counter that
--  is incremented once per nanosecond wraps after 292 years.

pragma Ada_2022;

with Interfaces;

private with Ada.Unchecked_Conversion;

package Appserver.Counters with Pure is

   subtype Integer_64 is Interfaces.Integer_64;

   type Counter is limited interface;
   --  A counter, which is initially zero. Any task may call the subprograms of a counter at any
   --  time. Only the counters in the package Counters.Locked can block a task, until their lock is
   --  free.

   procedure Increment (Self : in out Counter) is abstract;
   --  Adds 1.
   --  @param Self the counter

   procedure Decrement (Self : in out Counter) is abstract;
   --  Subtracts 1.
   --  @param Self the counter

   procedure Add (Self : in out Counter; Amount : Integer_64) is abstract;
   --  Adds an amount.
   --  @param Self the counter
   --  @param Amount the amount, which may be negative

   function Value (Self : Counter) return Integer_64 is abstract;
   --  Reads the counter.
   --  @param Self the counter
   --  @return the value. It includes all changes made before the call, and may include changes made
   --  during the call.

   type Linearizable_Counter is limited interface and Counter;
   --  A counter whose calls take effect in one order that is the same for all tasks (sequential
   --  consistency). A task that sees a change also sees all memory writes made before that change.

   procedure Set (Self : in out Linearizable_Counter; To : Integer_64) is abstract;
   --  Sets the counter.
   --  @param Self the counter
   --  @param To the new value

   function Fetch_And_Add
     (Self : in out Linearizable_Counter; Amount : Integer_64) return Integer_64 is abstract;
   --  Adds an amount.
   --  @param Self the counter
   --  @param Amount the amount, which may be negative
   --  @return the value before the addition

   procedure Compare_And_Set
     (Self     : in out Linearizable_Counter;
      Expected : Integer_64;
      To       : Integer_64;
      Is_Set   : out Boolean) is abstract;
   --  Sets the counter if it has the expected value.
   --  @param Self the counter
   --  @param Expected the expected value
   --  @param To the new value
   --  @param Is_Set True if the counter was set

   function Decrement_And_Test_Zero
     (Self : in out Linearizable_Counter) return Boolean is abstract;
   --  Subtracts 1 and checks for zero, for example for a reference count.
   --  @param Self the counter
   --  @return True if this call changed the counter to zero

private

   Line : constant := 128;
   --  The distance in bytes between words that different tasks write, to avoid false sharing. Cache
   --  lines have 64 bytes and are fetched in pairs on x86-64 (Intel 64 optimization manual, 3.7.3);
   --  they have 128 bytes on some ARM cores.

   type Word is mod 2 ** 64 with Size => 64, Atomic;

   type Padded_Word is limited record
      Word : aliased Counters.Word := 0;
   end record
     with Alignment => Line;

   --  Sums are computed on unsigned words, because they wrap around on overflow. The result has the
   --  same bits as the signed sum.

   function To_Word is new Ada.Unchecked_Conversion (Integer_64, Word);
   function To_Integer is new Ada.Unchecked_Conversion (Word, Integer_64);

end Appserver.Counters;
