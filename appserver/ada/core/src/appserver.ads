--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Building blocks for application servers: each child holds one of them.

pragma Ada_2022;

package Appserver with Pure is

   Version : constant String := "0.1.0";

end Appserver;
