--  SPDX-License-Identifier: Apache-2.0

package body Benchlab.Noop is

   overriding procedure Perform
     (Self       : in out Noop_Case;
      Operations : Operation_Count;
      Check      : out Check_Value;
      Units      : out Unit_Count) is
   begin
      Check := Check_Value (Operations);
      Units := Unit_Count (Operations);
   end Perform;

end Benchlab.Noop;
