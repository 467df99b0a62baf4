--  SPDX-License-Identifier: Apache-2.0

package body SQL_Cases is

   use Interfaces;

   overriding procedure Open
     (Self      : in out SQL_Case;
      Arguments : Fields.Field_List;
      Inputs    : Seeded_Sequences.Sequence;
      Settings  : in out Fields.Field_List) is
   begin
      Database.Connect (Self.DB, Arguments.Text ("target"));
      SQL_Case'Class (Self).Prepare (Arguments, Inputs);
      Database.Read_Back (Self.DB, Arguments, Settings);
   end Open;

   overriding procedure Close (Self : in out SQL_Case) is
   begin
      Self.DB.Close;
   end Close;

   function Ids
     (Inputs : Seeded_Sequences.Sequence; Arguments : Fields.Field_List) return Bound_Values
   is
      Rows : constant Unsigned_64 := Arguments.Number ("rows", 1, 2 ** 31 - 1);
   begin
      return [for K in Inputs'Range => Integer_64 (1 + Inputs (K) mod Rows)];
   end Ids;

   function Values (Inputs : Seeded_Sequences.Sequence) return Bound_Values is
     ([for K in Inputs'Range => Integer_64 (Shift_Right (Inputs (K), 33))]);

   function Amounts (Inputs : Seeded_Sequences.Sequence) return Bound_Values is
     ([for K in Inputs'Range => Integer_64 (1 + Shift_Right (Inputs (K), 20) mod 100)]);

   procedure Add_Rows
     (Query : in out Database.Statement;
      Check : in out Check_Value;
      Units : in out Unit_Count) is
   begin
      while Query.Step loop
         Check := Check + Check_Value'Mod (Query.As_Integer_64 (1));
         Units := Units + 1;
      end loop;
   end Add_Rows;

end SQL_Cases;
