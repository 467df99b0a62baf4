--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  A counter for many writers and few readers, such as a metric of a server. Each task writes to
--  its own stripe (a word), and the value is the sum of the stripes. If there are fewer stripes
--  than tasks, some tasks share a stripe, which is slower but loses no updates.

pragma Ada_2022;

package Appserver.Counters.Striped is

   Max_Stripes : constant := 1024;

   subtype Stripe_Count is Positive range 1 .. Max_Stripes;
   --  The number of stripes, which should be a power of two. With any other number, some stripes
   --  are never used.

   type Counter (Stripes : Stripe_Count := 16) is limited new Counters.Counter with private;
   --  A counter that uses 128 bytes per stripe. One stripe per core is enough.

   overriding procedure Increment (Self : in out Counter) with Inline;
   overriding procedure Decrement (Self : in out Counter) with Inline;
   overriding procedure Add (Self : in out Counter; Amount : Integer_64) with Inline;

   overriding function Value (Self : Counter) return Integer_64;
   --  Reads the stripes one after the other, so a change during the call may or may not be
   --  included. The result may be a value that the counter never had, unless the counter only
   --  increases.
   --  @param Self the counter
   --  @return the sum of the stripes

private

   type Word_Array is array (Positive range <>) of Padded_Word;

   type Counter (Stripes : Stripe_Count := 16) is limited new Counters.Counter with record
      Totals : Word_Array (1 .. Stripes);
   end record;

end Appserver.Counters.Striped;
