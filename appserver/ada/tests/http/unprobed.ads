--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  A part of a program that is compiled without -fstack-check

package Unprobed is

   function Sum (Place : Positive) return Natural
     with Pre => Place <= 100;
   --  Has a frame of 1,000,000 bytes, of which it touches one near the end

end Unprobed;
