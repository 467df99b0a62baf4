--  SPDX-License-Identifier: Apache-2.0
--
--  The case "noop", which every kit implements. Its operations do nothing.

with Benchlab.Cases;
with Benchlab.Fields;
with Benchlab.Seeded_Sequences;

private package Benchlab.Noop is

   type Noop_Case is limited new Cases.Subject_Case with null record;

   overriding procedure Open
     (Self      : in out Noop_Case;
      Arguments : Fields.Field_List;
      Inputs    : Seeded_Sequences.Sequence;
      Settings  : in out Fields.Field_List) is null;

   overriding procedure Perform
     (Self       : in out Noop_Case;
      Operations : Operation_Count;
      Check      : out Check_Value;
      Units      : out Unit_Count);

   overriding procedure Close (Self : in out Noop_Case) is null;

end Benchlab.Noop;
