--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Histograms of constant size for times from nanoseconds to an hour, which can be added up. Each
--  power of two is divided into 32 buckets of the same width, as in HdrHistogram
--  (https://hdrhistogram.github.io/HdrHistogram), so the middle of a bucket is at most 1.6 % away
--  from the values in it.

pragma Ada_2022;

with Appserver.Atomic_Words;
with Interfaces;

package Appserver.Histograms with Preelaborate is

   pragma Assertion_Policy (Pre => Check);

   use type Interfaces.Unsigned_64;

   subtype Word is Atomic_Words.Word;

   Bits  : constant := 5;
   Parts : constant := 2 ** Bits;
   --  Of each power of two

   Max_Value : constant Word := 2 ** 42 - 1;
   --  In ns, 73 minutes: what is above counts as this

   subtype Bucket is Natural range 0 .. (42 - Bits + 1) * Parts - 1;

   type Histogram is array (Bucket) of aliased Word;
   --  The number of values in each bucket. Several tasks may Record_Value while others read.

   function Bucket_Of (Value : Word) return Bucket with Inline;

   function Upper_Bound (Item : Bucket) return Word;
   --  The largest value of the bucket

   procedure Record_Value (Into : in out Histogram; Value : Word) with Inline;

   procedure Add (To : in out Histogram; Other : Histogram);

   function Count (Self : Histogram) return Word;

   subtype Percentage is Long_Float range 0.0 .. 100.0;

   function Percentile (Self : Histogram; Percent : Percentage) return Word
     with Pre => Count (Self) > 0;
   --  The upper bound of the bucket with the value that this percentage of all values do not
   --  exceed: at most 1/32 above it

end Appserver.Histograms;
