--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

with Appserver.HTTP;

function Greeting (Request : Appserver.HTTP.Request) return Appserver.HTTP.Response is
begin
   Request.Draft.Append ("Hello " & Request.Parameter ("name", Default => "World") & "!");
   return Appserver.HTTP.Written (Appserver.HTTP.Plain_Text'Access);
end Greeting;
