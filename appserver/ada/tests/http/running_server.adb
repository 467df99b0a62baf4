--  SPDX-License-Identifier: Apache-2.0

with Appserver.HTTP.Server;
with Test_Service;

package body Running_Server is

   Web : Appserver.HTTP.Server.Web_Server;

   procedure Start is
   begin
      Web.Start (Test_Service.Answer'Access);
   end Start;

end Running_Server;
