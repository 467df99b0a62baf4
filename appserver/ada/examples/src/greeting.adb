--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

with Appserver.HTTP;

function Greeting (Request : Appserver.HTTP.Request) return Appserver.HTTP.Response is
begin
   Request.Builder.Append ("Hello " & Request.Parameter ("name", Default => "World") & "!");
   return Appserver.HTTP.Text_Response (Appserver.HTTP.Plain_Text'Access);
end Greeting;
