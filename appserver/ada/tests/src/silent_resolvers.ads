--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  A resolver of host names that is silent about one of them. The program's getaddrinfo takes the
--  place of the C library's, for the libraries of databases, too.

package Silent_Resolvers is

   pragma Elaborate_Body;

   Silent_Host : constant String := "silent.invalid";
   --  It is looked up for far longer than a test may take, and then not found

end Silent_Resolvers;
