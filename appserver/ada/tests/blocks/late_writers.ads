--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  A task that uses a cache after the main procedure has returned. The values that this task
--  replaces must still be freed, even if a reader has delayed the release; otherwise, the program
--  fails.

package Late_Writers is

   pragma Elaborate_Body;

end Late_Writers;
