--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Ends without stopping the server, which is declared in a library-level package

with Running_Server;

procedure Left_Running is
begin
   Running_Server.Start;
end Left_Running;
