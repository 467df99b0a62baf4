--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  A counter in one atomic word with its own cache lines. A change is one instruction on x86-64
--  (lock add, lock xadd, lock cmpxchg), and a read is a load.

pragma Ada_2022;

package Appserver.Counters.Atomic with Preelaborate is

   type Counter is limited new Linearizable_Counter with private;

   overriding procedure Increment (Self : in out Counter) with Inline;
   overriding procedure Decrement (Self : in out Counter) with Inline;
   overriding procedure Add (Self : in out Counter; Amount : Integer_64) with Inline;
   overriding function Value (Self : Counter) return Integer_64;
   overriding procedure Set (Self : in out Counter; To : Integer_64) with Inline;

   overriding function Fetch_And_Add
     (Self : in out Counter; Amount : Integer_64) return Integer_64 with Inline;

   overriding procedure Compare_And_Set
     (Self     : in out Counter;
      Expected : Integer_64;
      To       : Integer_64;
      Is_Set   : out Boolean) with Inline;

   overriding function Decrement_And_Test_Zero (Self : in out Counter) return Boolean with Inline;

private

   type Counter is limited new Linearizable_Counter with record
      Total : Padded_Word;
   end record;

   overriding function Value (Self : Counter) return Integer_64 is (To_Integer (Self.Total.Word));

end Appserver.Counters.Atomic;
