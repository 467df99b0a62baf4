--  SPDX-License-Identifier: Apache-2.0

package body Serving is

   overriding procedure Open
     (Self      : in out Server_Case;
      Arguments : Fields.Field_List;
      Inputs    : Seeded_Sequences.Sequence;
      Settings  : in out Fields.Field_List)
   is
      pragma Unreferenced (Self, Arguments, Inputs);
   begin
      Settings.Add ("url", "http://127.0.0.1:1");
   end Open;

   overriding procedure Wait (Self : in out Server_Case; Commands : Natural) is
      pragma Unreferenced (Self);
   begin
      Waits := Waits + 1;
      Serving.Commands := Commands;
   end Wait;

end Serving;
