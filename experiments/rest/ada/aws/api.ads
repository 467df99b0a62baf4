--  SPDX-License-Identifier: Apache-2.0
--
--  The server's responses, by path and method.

with AWS.Dispatchers;

package API is

   function Dispatcher return AWS.Dispatchers.Handler'Class;

   procedure Keep_Connections (Kept : Boolean);
   --  Sets whether responses leave their connections open

end API;
