--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Tests IP addresses, and clients behind proxies.

with AUnit.Test_Suites;

package Proxy_Tests is

   function Suite return AUnit.Test_Suites.Access_Test_Suite;

end Proxy_Tests;
