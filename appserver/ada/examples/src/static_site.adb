--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Serves static files, and their compressed versions NAME.br and NAME.gz. Usage: PROGRAM PORT
--  DIRECTORY

with Appserver.HTTP.Server;
with Serving;
with Site;

procedure Static_Site is
   Web : Appserver.HTTP.Server.Web_Server;
begin
   Site.Folder.Open
     (Serving.Folder, (Index => Site.Index'Access, Precompressed => True, others => <>));
   Web.Start (Site.Respond'Access, Port => Serving.Port);
   Serving.Until_Input_Ends (Web);
end Static_Site;
