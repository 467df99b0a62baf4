--  SPDX-License-Identifier: Apache-2.0
--
--  The inputs of a case: the first 4,096 values of SplitMix64, repeated without end.

with Interfaces;

package Benchlab.Seeded_Sequences with Pure is

   type Input_Index is mod 4_096;
   --  Counts operations from 0 and wraps, as the inputs do

   type Sequence is array (Input_Index) of Interfaces.Unsigned_64;

   function Values (Seed : Interfaces.Unsigned_64) return Sequence;
   --  Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014

end Benchlab.Seeded_Sequences;
