--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  A task that uses a cache after the main procedure has returned. The values that it replaces are
--  still freed, also when a reader has kept some from being freed; if not, the program fails.

package Late_Writers is

   pragma Elaborate_Body;

end Late_Writers;
