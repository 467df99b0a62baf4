--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  A REST service for articles in a database: GET /articles/{id}, and POST /articles with a JSON
--  object that contains the name and the stock of an article

with Appserver.HTTP;

package Articles is

   function Respond (Request : Appserver.HTTP.Request) return Appserver.HTTP.Response;

   procedure Create;
   --  Creates the table

end Articles;
