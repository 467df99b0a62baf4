--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Tests the reader of multipart/form-data against each rule of the RFCs, and with damaged forms

with AUnit.Test_Suites;

package Multipart_Tests is

   function Suite return AUnit.Test_Suites.Access_Test_Suite;

end Multipart_Tests;
