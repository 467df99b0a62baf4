--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  The root package of libraries for application servers.

pragma Ada_2022;

package Appserver with Pure is

   Version : constant String := "0.1.0";

   Misuse_Error : exception;
   --  A bug in the program: a call violated a precondition, for example by using a closed
   --  statement. All crates raise this exception, in every build, with a message that describes the
   --  mistake.

end Appserver;
