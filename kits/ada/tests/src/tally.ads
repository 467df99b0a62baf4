--  SPDX-License-Identifier: Apache-2.0
--
--  A case whose operations fail on request, and which counts its live objects.

with Ada.Finalization;
with Benchlab.Cases;
with Benchlab.Fields;
with Benchlab.Seeded_Sequences;

package Tally is

   use Benchlab;

   Alive : Natural := 0;

   type Token is new Ada.Finalization.Limited_Controlled with null record;

   overriding procedure Initialize (Self : in out Token);
   overriding procedure Finalize (Self : in out Token);

   type Failure is (Nowhere, On_Open, On_Perform, On_Close);

   type Tally_Case is limited new Cases.Measuring_Case with record
      Life    : Token;
      Failing : Failure;
   end record;

   overriding procedure Open
     (Self      : in out Tally_Case;
      Arguments : Fields.Field_List;
      Inputs    : Seeded_Sequences.Sequence;
      Settings  : in out Fields.Field_List);

   overriding procedure Perform
     (Self       : in out Tally_Case;
      Operations : Operation_Count;
      Check      : out Check_Value;
      Units      : out Unit_Count);

   overriding function Metrics (Self : Tally_Case) return Fields.Field_List;

   overriding procedure Close (Self : in out Tally_Case);

   function New_Case (Name : String) return Cases.Case_Reference is
     (if Name = "tally" then new Tally_Case else null);

end Tally;
