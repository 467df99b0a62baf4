--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Articles in a database, by REST: GET /articles/{id}, and POST /articles with their names

with Appserver.HTTP;

package Articles is

   function Respond (Request : Appserver.HTTP.Request) return Appserver.HTTP.Response;

   procedure Create;
   --  The table

end Articles;
