--  SPDX-License-Identifier: Apache-2.0

package body Tally is

   use type Fields.Metric_Value;

   overriding procedure Initialize (Self : in out Token) is
   begin
      Alive := Alive + 1;
   end Initialize;

   overriding procedure Finalize (Self : in out Token) is
   begin
      Alive := Alive - 1;
   end Finalize;

   function Failure_Of is new Fields.Choice_Of (Failure);

   procedure Fail_If (Self : Tally_Case; Point : Failure) is
   begin
      if Self.Failing = Point then
         raise Program_Error with "asked to fail " & Point'Image;
      end if;
   end Fail_If;

   overriding procedure Open
     (Self      : in out Tally_Case;
      Arguments : Fields.Field_List;
      Inputs    : Seeded_Sequences.Sequence;
      Settings  : in out Fields.Field_List)
   is
      pragma Unreferenced (Inputs);
   begin
      Self.Failing := Failure_Of (Arguments, "failing");
      Fail_If (Self, On_Open);
      Settings.Add ("failing", Self.Failing'Image);
   end Open;

   overriding procedure Perform
     (Self       : in out Tally_Case;
      Operations : Operation_Count;
      Check      : out Check_Value;
      Units      : out Unit_Count) is
   begin
      Fail_If (Self, On_Perform);
      Check := Check_Value (2 * Operations);
      Units := Unit_Count (3 * Operations);
   end Perform;

   overriding function Metrics (Self : Tally_Case) return Fields.Field_List is
      pragma Unreferenced (Self);
   begin
      return Result : Fields.Field_List do
         Result.Add ("lost", Fields.Metric_Value'(12.5));
         Result.Add ("small", Fields.Metric_Value'(-0.000_012));
         Result.Add ("large", Fields.Metric_Value'(9.8E14));
      end return;
   end Metrics;

   overriding procedure Close (Self : in out Tally_Case) is
   begin
      Fail_If (Self, On_Close);
   end Close;

end Tally;
