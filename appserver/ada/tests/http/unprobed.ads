--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Code that is compiled without -fstack-check

package Unprobed is

   function Sum (Place : Positive) return Natural
     with Pre => Place <= 100;
   --  A procedure with a stack frame of 1,000,000 bytes, of which it touches only one byte near the
   --  end

end Unprobed;
