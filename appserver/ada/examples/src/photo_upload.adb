--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  A server for uploads. Usage: PROGRAM PORT DIRECTORY

with Appserver.HTTP.Server;
with Photos;
with Serving;

procedure Photo_Upload is
   Web : Appserver.HTTP.Server.Web_Server;
begin
   Web.Start (Photos.Service'Access, Port => Serving.Port);
   Serving.Until_Input_Ends (Web);
end Photo_Upload;
