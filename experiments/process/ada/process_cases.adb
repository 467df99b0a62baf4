--  SPDX-License-Identifier: Apache-2.0

with Ada.Unchecked_Deallocation;
with Left_Behind;

package body Process_Cases is

   use type Fields.Metric_Value;

   ------------
   -- Memory --
   ------------

   procedure Free is new Ada.Unchecked_Deallocation (String, Byte_Access);

   procedure Allocate (Self : in out Memory; Size : Positive) is
   begin
      Self.Bytes := new String (1 .. Size);
      Self.Bytes.all := [others => '1'];
   end Allocate;

   overriding procedure Finalize (Self : in out Memory) is
   begin
      Free (Self.Bytes);
   end Finalize;

   ----------
   -- Case --
   ----------

   function Size_Of (Parent : String) return Positive is
     (if Parent = "10MB" then 10 * 2 ** 20
      elsif Parent = "1GB" then 2 ** 30
      else raise Unsupported_Error with "unknown parent " & Parent);

   overriding procedure Open
     (Self      : in out Process_Case;
      Arguments : Fields.Field_List;
      Inputs    : Sequence;
      Settings  : in out Fields.Field_List)
   is
      pragma Unreferenced (Settings);
   begin
      Self.Parent.Allocate (Size_Of (Arguments.Text ("parent")));
      Process_Case'Class (Self).Prepare (Arguments, Inputs);
      Self.Descriptors := Left_Behind.Descriptors;
   end Open;

   overriding procedure Perform
     (Self       : in out Process_Case;
      Operations : Operation_Count;
      Check      : out Check_Value;
      Units      : out Unit_Count) is
   begin
      Check := 0;
      Self.Measured := 0.0;
      Self.Operations := Operations;
      for Operation in 1 .. Operations loop
         Process_Case'Class (Self).Operate (Check);
      end loop;
      Units := Unit_Count (Operations) * Process_Case'Class (Self).Units_Of;
   end Perform;

   procedure Measure (Self : in out Process_Case; Value : Fields.Metric_Value) is
   begin
      Self.Measured := Self.Measured + Value;
   end Measure;

   overriding function Metrics (Self : Process_Case) return Fields.Field_List is
      Name : constant String := Process_Case'Class (Self).Metric;
   begin
      return Result : Fields.Field_List do
         Result.Add
           ("descriptors",
            Fields.Metric_Value (Left_Behind.Descriptors) - Fields.Metric_Value (Self.Descriptors));
         Result.Add ("children", Fields.Metric_Value (Left_Behind.Children));
         if Name /= "" then
            Result.Add (Name, Self.Measured / Fields.Metric_Value (Self.Operations));
         end if;
      end return;
   end Metrics;

   function Hash (Bytes : String) return Check_Value is
   begin
      return Value : Check_Value := 16#CBF2_9CE4_8422_2325# do
         for Byte of Bytes loop
            Value := (Value xor Character'Pos (Byte)) * 16#100_0000_01B3#;
         end loop;
      end return;
   end Hash;

end Process_Cases;
