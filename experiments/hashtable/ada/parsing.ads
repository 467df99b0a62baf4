--  SPDX-License-Identifier: Apache-2.0
--
--  A parser's work with its symbol table, and nothing else.

with Benchlab.Seeded_Sequences;
with Interfaces;
with Symbol_Tables;

package Parsing is

   Lookups : constant := 3;
   --  How often a document has each symbol

   Max_Symbols : constant := Benchlab.Seeded_Sequences.Input_Index'Modulus;

   subtype Symbol_Count is Positive range 1 .. Max_Symbols;

   procedure Parse
     (Names   : Benchlab.Seeded_Sequences.Sequence;
      Buckets : Symbol_Tables.Bucket_Count;
      Symbols : Symbol_Count;
      Sum     : in out Interfaces.Unsigned_64);
   --  Makes a table, looks up the first Symbols names, all of them Lookups times over, adds their
   --  numbers to Sum, and frees the table. The sum is the same for every number of buckets.

end Parsing;
