--  SPDX-License-Identifier: Apache-2.0
--
--  The common part of the server subjects: the settings that they get from benchlab, and the
--  settings that they report.

with Appserver.HTTP;
with Benchlab.Fields;

package Settings is

   use Benchlab;

   function Times (Arguments : Fields.Field_List) return Appserver.HTTP.Time_Limits;
   --  Returns the server's time limits. In tests, the arguments head_timeout, body_timeout,
   --  idle_timeout and send_timeout, in seconds, replace the defaults.

   procedure Add
     (To             : in out Fields.Field_List;
      Port           : Appserver.HTTP.Port_Number;
      Workers, Loops : Natural);

end Settings;
