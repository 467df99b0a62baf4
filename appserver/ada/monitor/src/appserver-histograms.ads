--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Histograms of constant size for times from nanoseconds to an hour. Histograms can be added. Each
--  power of two is divided into 32 buckets of equal width, as in HdrHistogram
--  (https://hdrhistogram.github.io/HdrHistogram), so the midpoint of a bucket differs from the
--  values in the bucket by at most 1.6%.

pragma Ada_2022;

with Appserver.Atomic_Words;
with Interfaces;

package Appserver.Histograms with Preelaborate is

   pragma Assertion_Policy (Pre => Check);

   use type Interfaces.Unsigned_64;

   subtype Word is Atomic_Words.Word;

   Bits  : constant := 5;
   Parts : constant := 2 ** Bits;
   --  The number of buckets between two consecutive powers of two

   Max_Value : constant Word := 2 ** 42 - 1;
   --  The maximum value, which is 73 minutes in nanoseconds. Larger values are counted as this
   --  value.

   subtype Bucket is Natural range 0 .. (42 - Bits + 1) * Parts - 1;

   type Histogram is array (Bucket) of aliased Word;
   --  The number of values in each bucket. Tasks may call Record_Value while other tasks read.

   function Bucket_Of (Value : Word) return Bucket with Inline;
   --  @param Value a value
   --  @return the bucket of the value

   function Upper_Bound (Item : Bucket) return Word;
   --  @param Item a bucket
   --  @return the maximum value of the bucket

   procedure Record_Value (Into : in out Histogram; Value : Word) with Inline;
   --  Counts a value.
   --  @param Into the histogram
   --  @param Value the value

   procedure Add (To : in out Histogram; Other : Histogram);
   --  Adds the values of Other to To.
   --  @param To the histogram to add to
   --  @param Other the histogram to add

   function Count (Self : Histogram) return Word;
   --  @param Self the histogram
   --  @return the number of values

   subtype Percentage is Long_Float range 0.0 .. 100.0;

   function Percentile (Self : Histogram; Percent : Percentage) return Word
     with Pre => Count (Self) > 0 or else raise Misuse_Error with "the histogram is empty";
   --  Computes a percentile. The result is the upper bound of the percentile's bucket, which
   --  exceeds the exact percentile by at most 1/32.
   --  @param Self the histogram
   --  @param Percent the percentage of values that do not exceed the result
   --  @return the percentile

end Appserver.Histograms;
