--  SPDX-License-Identifier: Apache-2.0

with Appserver.HTTP.Embedded;
with Service;
with Settings;

package body Embedded_Case is

   package Web is new Appserver.HTTP.Embedded
     (Handle           => Service.Respond'Access,
      Connections      => 1_100,
      Request_Header   => 16_384,
      Request_Content  => 65_536,
      Response_Content => 65_536,
      Waiting_Memory   => 458_752);

   overriding procedure Open
     (Self      : in out Server_Case;
      Arguments : Fields.Field_List;
      Inputs    : Seeded_Sequences.Sequence;
      Settings  : in out Fields.Field_List)
   is
      pragma Unreferenced (Self, Inputs);
   begin
      Service.Open (Arguments.Text ("files"));
      Web.Open (Times => Standard.Settings.Times (Arguments));
      Standard.Settings.Add (Settings, Web.Port, Workers => 0, Loops => 1);
   exception
      when others =>
         Service.Close;
         raise;
   end Open;

   overriding procedure Wait (Self : in out Server_Case; Commands : Natural) is
      pragma Unreferenced (Self);
   begin
      Web.Serve_Until_Input (Appserver.HTTP.Descriptor (Commands));
   end Wait;

   overriding procedure Close (Self : in out Server_Case) is
      pragma Unreferenced (Self);
   begin
      Web.Close;
      Service.Close;
   end Close;

end Embedded_Case;
