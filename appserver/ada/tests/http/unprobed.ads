--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Code that is compiled without -fstack-check

package Unprobed is

   function Sum (Place : Positive) return Natural
     with Pre => Place <= 100;
   --  Uses a stack frame of 1,000,000 bytes, but accesses only one byte, near the end of the frame

end Unprobed;
