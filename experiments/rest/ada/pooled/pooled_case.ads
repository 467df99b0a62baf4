--  SPDX-License-Identifier: Apache-2.0
--
--  The case with the server profile, whose tasks serve connections from Open to Close.

with Appserver.HTTP.Server;
with Benchlab.Cases;
with Benchlab.Fields;
with Benchlab.Seeded_Sequences;

package Pooled_Case is

   use Benchlab;

   type Server_Case is limited new Cases.Serving_Case with record
      Web : Appserver.HTTP.Server.Web_Server;
   end record;

   overriding procedure Open
     (Self      : in out Server_Case;
      Arguments : Fields.Field_List;
      Inputs    : Seeded_Sequences.Sequence;
      Settings  : in out Fields.Field_List);

   overriding procedure Close (Self : in out Server_Case);

   function New_Case (Name : String) return Cases.Case_Reference is
     (if Name = "serve" then new Server_Case else null);

end Pooled_Case;
