--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

pragma Ada_2022;

package body Appserver.Histograms is

   use Interfaces;
   use Atomic_Words;

   function Leading_Zeros (Value : Unsigned_64) return Integer
     with Import, Convention => Intrinsic, External_Name => "__builtin_clzll";

   function Bucket_Of (Value : Word) return Bucket is
      Inside : constant Word    := Word'Min (Value, Max_Value);
      Shift  : constant Natural := 63 - Leading_Zeros (Inside or Parts) - Bits;
   begin
      return Shift * Parts + Natural (Shift_Right (Inside, Shift));
   end Bucket_Of;

   function Upper_Bound (Item : Bucket) return Word is
      Shift : constant Natural := (if Item < Parts then 0 else Item / Parts - 1);
   begin
      return Shift_Left (Word (Item - Shift * Parts) + 1, Shift) - 1;
   end Upper_Bound;

   procedure Record_Value (Into : in out Histogram; Value : Word) is
   begin
      Atomic_Words.Add (Into (Bucket_Of (Value)), 1);
   end Record_Value;

   procedure Add (To : in out Histogram; Other : Histogram) is
   begin
      for Item in Bucket loop
         To (Item) := To (Item) + Load (Other (Item));
      end loop;
   end Add;

   function Count (Self : Histogram) return Word is
      Sum : Word := 0;
   begin
      for Each of Self loop
         Sum := Sum + Each;
      end loop;
      return Sum;
   end Count;

   --  The rank is rounded up, as in HdrHistogram. The smallest value has rank 1.

   function Percentile (Self : Histogram; Percent : Percentage) return Word is
      Rank      : constant Word := Word'Max
        (1, Word (Long_Float'Ceiling (Percent / 100.0 * Long_Float (Count (Self)) - 1.0E-6)));
      Cumulated : Word := 0;
   begin
      for Item in Bucket loop
         Cumulated := Cumulated + Self (Item);
         if Cumulated >= Rank then
            return Upper_Bound (Item);
         end if;
      end loop;
      return Max_Value;
   end Percentile;

end Appserver.Histograms;
