--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  A counter for many writers and few readers, such as a figure that a server shows: each task
--  writes to a word of its own, and the value is their sum. With fewer stripes than tasks, some
--  tasks share a word, which is slower and loses nothing either.

pragma Ada_2022;

package Appserver.Counters.Striped is

   Most_Stripes : constant := 1024;

   subtype Stripe_Count is Positive range 1 .. Most_Stripes;
   --  A power of two; of another number some are never used

   type Counter (Stripes : Stripe_Count := 16) is limited new Counters.Counter with private;
   --  Takes 128 bytes for each stripe. As many stripes as cores are enough.

   overriding procedure Increment (Self : in out Counter) with Inline;
   overriding procedure Decrement (Self : in out Counter) with Inline;
   overriding procedure Add (Self : in out Counter; Amount : Integer_64) with Inline;

   overriding function Value (Self : Counter) return Integer_64;
   --  Stripes are read one after the other: changes during the call may be in it or not, each for
   --  itself. So a value may be one that the counter never had, unless all changes go upwards.

private

   type Word_Array is array (Positive range <>) of Padded_Word;

   type Counter (Stripes : Stripe_Count := 16) is limited new Counters.Counter with record
      Totals : Word_Array (1 .. Stripes);
   end record;

end Appserver.Counters.Striped;
