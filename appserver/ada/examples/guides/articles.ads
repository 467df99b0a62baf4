--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

with Appserver.HTTP;

package Articles is
   function Respond (Request : Appserver.HTTP.Request) return Appserver.HTTP.Response;
end Articles;
