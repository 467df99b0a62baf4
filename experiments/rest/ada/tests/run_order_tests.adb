--  SPDX-License-Identifier: Apache-2.0
--
--  The tests of orders. Its argument is the experiment's folder.

with Orders_Tests;
with Run_Suite;

procedure Run_Order_Tests is
   procedure Run is new Run_Suite (Orders_Tests.Suite);
begin
   Run;
end Run_Order_Tests;
