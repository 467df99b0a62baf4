--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

with Appserver.HTTP.Access_Logs;
with Appserver.HTTP.Server;
with Test_Service;

package body Running_Server is

   use Appserver;

   Log : aliased HTTP.Access_Logs.Access_Log (Lines => 2);
   Web : HTTP.Server.Web_Server;

   procedure Start is
   begin
      Log.Open ("/dev/null", HTTP.Access_Logs.Common);
      Web.Start (Test_Service.Respond'Access, Options => (Log => Log'Access, others => <>));
   end Start;

end Running_Server;
