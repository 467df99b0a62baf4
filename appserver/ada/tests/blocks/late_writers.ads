--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  A task that uses a cache after the main procedure has returned. The values that it replaces must
--  still be freed, even if a reader has delayed this; otherwise the program fails.

package Late_Writers is

   pragma Elaborate_Body;

end Late_Writers;
