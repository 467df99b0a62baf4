--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  REST on a database: PROGRAM PORT FOLDER, which has or gets articles.db

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
