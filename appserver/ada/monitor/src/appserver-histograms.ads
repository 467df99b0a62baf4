--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Histograms of constant size for times from nanoseconds to an hour, which can be added. Each
--  power of two is divided into 32 buckets of the same width, as in HdrHistogram
--  (https://hdrhistogram.github.io/HdrHistogram), so the middle of a bucket differs from the values
--  in it by at most 1.6 %.

pragma Ada_2022;

with Appserver.Atomic_Words;
with Interfaces;

package Appserver.Histograms with Preelaborate is

   pragma Assertion_Policy (Pre => Check);

   use type Interfaces.Unsigned_64;

   subtype Word is Atomic_Words.Word;

   Bits  : constant := 5;
   Parts : constant := 2 ** Bits;
   --  The number of buckets of each power of two

   Max_Value : constant Word := 2 ** 42 - 1;
   --  73 minutes in ns. Greater values count as this one.

   subtype Bucket is Natural range 0 .. (42 - Bits + 1) * Parts - 1;

   type Histogram is array (Bucket) of aliased Word;
   --  The number of values in each bucket. Tasks may call Record_Value while others read.

   function Bucket_Of (Value : Word) return Bucket with Inline;
   --  @param Value a value
   --  @return its bucket

   function Upper_Bound (Item : Bucket) return Word;
   --  @param Item a bucket
   --  @return its greatest value

   procedure Record_Value (Into : in out Histogram; Value : Word) with Inline;
   --  Counts a value.
   --  @param Into the histogram
   --  @param Value the value

   procedure Add (To : in out Histogram; Other : Histogram);
   --  Adds a histogram.
   --  @param To the sum
   --  @param Other the histogram to add

   function Count (Self : Histogram) return Word;
   --  @param Self the histogram
   --  @return the number of values

   subtype Percentage is Long_Float range 0.0 .. 100.0;

   function Percentile (Self : Histogram; Percent : Percentage) return Word
     with Pre => Count (Self) > 0 or else raise Misuse_Error with "the histogram is empty";
   --  Computes a percentile: the upper bound of its bucket, which is at most 1/32 above it.
   --  @param Self the histogram
   --  @param Percent the percentage of values that do not exceed the result
   --  @return the percentile

end Appserver.Histograms;
