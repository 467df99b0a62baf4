--  SPDX-License-Identifier: Apache-2.0

package body SQL_Cases.Tables is

   overriding procedure Perform
     (Self       : in out Drop_Create_Case;
      Operations : Operation_Count;
      Check      : out Check_Value;
      Units      : out Unit_Count) is
   begin
      for Operation in 1 .. Operations loop
         Self.DB.Execute ("DROP TABLE test_simple");
         Self.DB.Execute
           ("CREATE TABLE test_simple (id integer primary key autoincrement, value integer)");
      end loop;
      Check := Check_Value (Operations);
      Units := Unit_Count (Operations);
   end Perform;

end SQL_Cases.Tables;
