--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Code that is compiled without -fstack-check

package Unprobed is

   function Sum (Place : Positive) return Natural
     with Pre => Place <= 100;
   --  Has a stack frame of 1,000,000 bytes, and touches only one byte near its end

end Unprobed;
