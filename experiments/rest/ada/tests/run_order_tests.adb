--  SPDX-License-Identifier: Apache-2.0
--
--  Runs the tests of orders. The argument is the experiment's directory.

with Orders_Tests;
with Run_Suite;

procedure Run_Order_Tests is
   procedure Run is new Run_Suite (Orders_Tests.Suite);
begin
   Run;
end Run_Order_Tests;
