--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

package body Overhead_Parts is

   Hello : aliased constant String := "Hello!";

   function Respond (Request : HTTP.Request) return HTTP.Response is
      pragma Unreferenced (Request);
   begin
      return HTTP.Static_Response (HTTP.Plain_Text'Access, Hello'Access);
   end Respond;

end Overhead_Parts;
