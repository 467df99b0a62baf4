--  SPDX-License-Identifier: Apache-2.0
--
--  The case with the embedded profile of the server, with room for 1,100 connections. The task that
--  waits for commands also serves the connections.

with Benchlab.Cases;
with Benchlab.Fields;
with Benchlab.Seeded_Sequences;

package Embedded_Case is

   use Benchlab;

   type Server_Case is limited new Cases.Serving_Case with null record;

   overriding procedure Open
     (Self      : in out Server_Case;
      Arguments : Fields.Field_List;
      Inputs    : Seeded_Sequences.Sequence;
      Settings  : in out Fields.Field_List);

   overriding procedure Wait (Self : in out Server_Case; Commands : Natural);

   overriding procedure Close (Self : in out Server_Case);

   function New_Case (Name : String) return Cases.Case_Reference is
     (if Name = "serve" then new Server_Case else null);

end Embedded_Case;
