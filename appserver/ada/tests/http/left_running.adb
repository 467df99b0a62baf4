--  SPDX-License-Identifier: Apache-2.0
--
--  Ends without stopping its server, which is declared in a library package

with Running_Server;

procedure Left_Running is
begin
   Running_Server.Start;
end Left_Running;
