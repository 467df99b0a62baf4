--  SPDX-License-Identifier: Apache-2.0
--
--  What the server answers, by path and method.

with AWS.Dispatchers;

package API is

   function Dispatcher return AWS.Dispatchers.Handler'Class;

   procedure Keep_Connections (Kept : Boolean);
   --  Whether answers leave their connections open

end API;
