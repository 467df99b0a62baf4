--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  A Cancel that takes as long as a test needs.

package Appserver.SQL.Held_Cancels is

   procedure Hold (On : Connection'Class; Act : not null access procedure);
   --  Calls Act as if another task were in Cancel of On meanwhile

end Appserver.SQL.Held_Cancels;
