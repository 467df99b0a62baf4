--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  A REST service with a database. Usage: PROGRAM PORT DIRECTORY; articles.db is created in the
--  directory if it does not exist.

with Appserver.HTTP.Server;
with Articles;
with Serving;

procedure Article_Store is
   Web : Appserver.HTTP.Server.Web_Server;
begin
   Articles.Create;
   Web.Start (Articles.Respond'Access, Port => Serving.Port);
   Serving.Until_Input_Ends (Web);
end Article_Store;
