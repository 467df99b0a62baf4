--  SPDX-License-Identifier: Apache-2.0
--
--  The part of a parser's work that uses its symbol table.

with Benchlab.Seeded_Sequences;
with Interfaces;
with Symbol_Tables;

package Parsing is

   Lookups : constant := 3;
   --  The number of occurrences of each symbol in a document

   Max_Symbols : constant := Benchlab.Seeded_Sequences.Input_Index'Modulus;

   subtype Symbol_Count is Positive range 1 .. Max_Symbols;

   procedure Parse
     (Names   : Benchlab.Seeded_Sequences.Sequence;
      Buckets : Symbol_Tables.Bucket_Count;
      Symbols : Symbol_Count;
      Sum     : in out Interfaces.Unsigned_64);
   --  Creates a table, looks up the first Symbols names Lookups times, adds the numbers of these
   --  symbols to Sum, and frees the table. The sum does not depend on the number of buckets.

end Parsing;
