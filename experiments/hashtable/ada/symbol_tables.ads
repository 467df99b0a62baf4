--  SPDX-License-Identifier: Apache-2.0
--
--  The numbered symbols that a parser has seen: an array of buckets with linked symbols. Like the
--  symbol table of XML/Ada's parsers, the array never grows.

with Interfaces;

private with Ada.Finalization;

package Symbol_Tables is

   subtype Symbol is Interfaces.Unsigned_64;

   Max_Buckets : constant := 2 ** 24;

   subtype Bucket_Count is Positive range 1 .. Max_Buckets;

   type Table (Buckets : Bucket_Count) is tagged limited private;
   --  A symbol table, initially empty. The declaration of a table allocates and clears 16 bytes for
   --  each bucket.

   procedure Look_Up (Self : in out Table; Name : Symbol; Number : out Positive);
   --  Looks up a symbol. New symbols are numbered consecutively from 1.

private

   type Known_Symbol;
   type Known_Symbol_Reference is access Known_Symbol;

   type Known_Symbol is record
      Name   : Symbol;
      Number : Positive;
      Next   : Known_Symbol_Reference;
   end record;

   type Bucket is record
      First  : Known_Symbol_Reference;
      Length : Natural := 0;
   end record;

   type Bucket_Array is array (Natural range <>) of Bucket;
   type Bucket_Array_Reference is access Bucket_Array;

   type Table (Buckets : Bucket_Count) is new Ada.Finalization.Limited_Controlled with record
      Chains : Bucket_Array_Reference;
      Known  : Natural := 0;
   end record;

   overriding procedure Initialize (Self : in out Table);

   overriding procedure Finalize (Self : in out Table);

end Symbol_Tables;
