--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  A server that exists until the program ends.

package Running_Server is

   procedure Start;

end Running_Server;
