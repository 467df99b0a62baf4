--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Ends without stopping its server, which is declared in a library package

with Running_Server;

procedure Left_Running is
begin
   Running_Server.Start;
end Left_Running;
