--  SPDX-License-Identifier: Apache-2.0
--
--  The experiment's case: parsers, each with its own symbol table.

with Benchlab.Cases;
with Benchlab.Fields;
with Benchlab.Seeded_Sequences;

private with Parsing;
private with Symbol_Tables;

package Hashtable_Cases is

   use Benchlab;

   function New_Case (Name : String) return Cases.Case_Reference;

private

   type Parse_Case is limited new Cases.Subject_Case with record
      Names   : Seeded_Sequences.Sequence;
      Buckets : Symbol_Tables.Bucket_Count;
      Symbols : Parsing.Symbol_Count;
   end record;

   overriding procedure Open
     (Self      : in out Parse_Case;
      Arguments : Fields.Field_List;
      Inputs    : Seeded_Sequences.Sequence;
      Settings  : in out Fields.Field_List);

   overriding procedure Perform
     (Self       : in out Parse_Case;
      Operations : Operation_Count;
      Check      : out Check_Value;
      Units      : out Unit_Count);

   overriding procedure Close (Self : in out Parse_Case) is null;

end Hashtable_Cases;
