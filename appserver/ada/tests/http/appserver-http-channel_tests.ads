--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Tests the frames, the queues and the messages of channels, of which some packages are private.

with AUnit.Test_Suites;

package Appserver.HTTP.Channel_Tests is

   function Suite return AUnit.Test_Suites.Access_Test_Suite;

end Appserver.HTTP.Channel_Tests;
