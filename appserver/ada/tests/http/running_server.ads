--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  A server that exists as long as the program.

package Running_Server is

   procedure Start;

end Running_Server;
