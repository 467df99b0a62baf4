--  SPDX-License-Identifier: Apache-2.0

package body SQL_Cases.Commanding is

   use Ada.Strings.Unbounded;

   ----------
   -- DO 1 --
   ----------

   overriding procedure Prepare
     (Self      : in out Do_1_Case;
      Arguments : Fields.Field_List;
      Inputs    : Seeded_Sequences.Sequence) is
   begin
      if not Database.Has_Do then
         raise Unsupported_Error with "this database does not support DO 1";
      end if;
   end Prepare;

   overriding procedure Perform
     (Self       : in out Do_1_Case;
      Operations : Operation_Count;
      Check      : out Check_Value;
      Units      : out Unit_Count) is
   begin
      for Operation in 1 .. Operations loop
         Self.DB.Execute ("DO 1");
      end loop;
      Check := Check_Value (Operations);
      Units := Unit_Count (Operations);
   end Perform;

   ----------
   -- DROP --
   ----------

   overriding procedure Prepare
     (Self      : in out Drop_Create_Case;
      Arguments : Fields.Field_List;
      Inputs    : Seeded_Sequences.Sequence)
   is
      pragma Unreferenced (Inputs);
   begin
      Self.Table := To_Unbounded_String (Arguments.Text ("table"));
   end Prepare;

   overriding procedure Perform
     (Self       : in out Drop_Create_Case;
      Operations : Operation_Count;
      Check      : out Check_Value;
      Units      : out Unit_Count)
   is
      Create : constant String := To_String (Self.Table);
   begin
      for Operation in 1 .. Operations loop
         Self.DB.Execute ("DROP TABLE test_simple");
         Self.DB.Execute (Create);
      end loop;
      Check := Check_Value (Operations);
      Units := Unit_Count (Operations);
   end Perform;

end SQL_Cases.Commanding;
