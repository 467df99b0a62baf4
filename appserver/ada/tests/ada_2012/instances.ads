--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

package Instances with Elaborate_Body is

end Instances;
