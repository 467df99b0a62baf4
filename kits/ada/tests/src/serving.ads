--  SPDX-License-Identifier: Apache-2.0
--
--  A server that records the calls to Wait.

with Benchlab.Cases;
with Benchlab.Fields;
with Benchlab.Seeded_Sequences;

package Serving is

   use Benchlab;

   Waits    : Natural := 0;
   --  The number of calls to Wait
   Commands : Natural := 0;
   --  The descriptor that was passed to the latest call to Wait

   type Server_Case is limited new Cases.Serving_Case with null record;

   overriding procedure Open
     (Self      : in out Server_Case;
      Arguments : Fields.Field_List;
      Inputs    : Seeded_Sequences.Sequence;
      Settings  : in out Fields.Field_List);

   overriding procedure Wait (Self : in out Server_Case; Commands : Natural);

   overriding procedure Close (Self : in out Server_Case) is null;

   function New_Case (Name : String) return Cases.Case_Reference is
     (if Name = "serve" then new Server_Case else null);

end Serving;
