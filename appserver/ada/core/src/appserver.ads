--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  The root package of libraries for application servers.

pragma Ada_2022;

package Appserver with Pure is

   Version : constant String := "0.1.0";

   Misuse_Error : exception;
   --  A bug in the program: it broke a precondition, such as by using a closed statement. All
   --  crates raise it, in every build, with a message that names the mistake.

end Appserver;
