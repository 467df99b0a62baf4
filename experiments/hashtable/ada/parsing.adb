--  SPDX-License-Identifier: Apache-2.0

package body Parsing is

   use Benchlab.Seeded_Sequences;
   use Interfaces;

   procedure Parse
     (Names   : Sequence;
      Buckets : Symbol_Tables.Bucket_Count;
      Symbols : Symbol_Count;
      Sum     : in out Unsigned_64)
   is
      Seen   : Symbol_Tables.Table (Buckets);
      Number : Positive;
   begin
      for Round in 1 .. Lookups loop
         for Index in 0 .. Input_Index (Symbols - 1) loop
            Seen.Look_Up (Names (Index), Number);
            Sum := Sum + Unsigned_64 (Number);
         end loop;
      end loop;
   end Parse;

end Parsing;
