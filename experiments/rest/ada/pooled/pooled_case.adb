--  SPDX-License-Identifier: Apache-2.0

with Service;
with Settings;

package body Pooled_Case is

   Max_Workers : constant := 64;

   overriding procedure Open
     (Self      : in out Server_Case;
      Arguments : Fields.Field_List;
      Inputs    : Seeded_Sequences.Sequence;
      Settings  : in out Fields.Field_List)
   is
      pragma Unreferenced (Inputs);

      Workers : constant Positive := Positive (Arguments.Number ("workers", 1, Max_Workers));
   begin
      Service.Open (Arguments.Text ("files"));
      --  A handler has an order of 64 KiB on its stack
      Self.Web.Start
        (Service.Respond'Access,
         Options =>
           (Workers       => Workers,
            Handler_Stack => 2 ** 20,
            Times         => Standard.Settings.Times (Arguments),
            others        => <>));
      Standard.Settings.Add (Settings, Self.Web.Port, Workers, Self.Web.Loops);
   exception
      when others =>
         Service.Close;
         raise;
   end Open;

   overriding procedure Close (Self : in out Server_Case) is
   begin
      Self.Web.Stop;
      Service.Close;
   end Close;

end Pooled_Case;
