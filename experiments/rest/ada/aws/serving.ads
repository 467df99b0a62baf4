--  SPDX-License-Identifier: Apache-2.0
--
--  The case "serve": a server for the requests that experiments/rest/README.md specifies, from
--  "open" to "close".

with AWS.Server;
with Benchlab.Cases;
with Benchlab.Fields;
with Benchlab.Seeded_Sequences;

package Serving is

   type Serve_Case is limited new Benchlab.Cases.Serving_Case with private;

   overriding procedure Open
     (Self      : in out Serve_Case;
      Arguments : Benchlab.Fields.Field_List;
      Inputs    : Benchlab.Seeded_Sequences.Sequence;
      Settings  : in out Benchlab.Fields.Field_List);

   overriding procedure Close (Self : in out Serve_Case);

   function New_Case (Name : String) return Benchlab.Cases.Case_Reference is
     (if Name = "serve" then new Serve_Case else null);

private

   type Serve_Case is limited new Benchlab.Cases.Serving_Case with record
      Server : AWS.Server.HTTP;
   end record;

end Serving;
