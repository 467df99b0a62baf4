--  SPDX-License-Identifier: Apache-2.0
--
--  The inputs of a case: the first 4,096 values of SplitMix64, repeated endlessly.

with Interfaces;

package Benchlab.Seeded_Sequences with Pure is

   type Input_Index is mod 4_096;
   --  The index of an input. Operation k uses the input with the index k mod 4_096.

   type Sequence is array (Input_Index) of Interfaces.Unsigned_64;

   function Values (Seed : Interfaces.Unsigned_64) return Sequence;
   --  Computes the values for a seed (Steele, Lea, Flood, "Fast splittable pseudorandom number
   --  generators", OOPSLA 2014)

end Benchlab.Seeded_Sequences;
