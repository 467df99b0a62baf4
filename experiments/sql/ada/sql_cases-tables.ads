--  SPDX-License-Identifier: Apache-2.0
--
--  What does it cost to drop a table and make it anew?

package SQL_Cases.Tables is

   type Drop_Create_Case is limited new SQL_Case with null record;

   overriding procedure Perform
     (Self       : in out Drop_Create_Case;
      Operations : Operation_Count;
      Check      : out Check_Value;
      Units      : out Unit_Count);

end SQL_Cases.Tables;
