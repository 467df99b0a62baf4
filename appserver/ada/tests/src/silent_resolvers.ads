--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  A resolver that does not respond for one host name. The program's getaddrinfo replaces the
--  getaddrinfo of the C library, even for the database libraries.

package Silent_Resolvers is

   pragma Elaborate_Body;

   Silent_Host : constant String := "silent.invalid";
   --  A host name whose lookup takes much longer than a test may take, and then fails

end Silent_Resolvers;
