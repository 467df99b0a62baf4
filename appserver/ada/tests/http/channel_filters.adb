--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

package body Channel_Filters is

   overriding procedure After
     (Self : in out Marking_Filter; Request : HTTP.Request; Response : in out HTTP.Response)
   is
      pragma Unreferenced (Self, Response);
   begin
      Request.Builder.Add_Field ("X-Filtered", "yes");
   end After;

end Channel_Filters;
