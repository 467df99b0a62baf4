--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

package Parallel is

   procedure Run (Tasks : Positive; Work : not null access procedure (Number : Positive));
   --  In so many tasks at once, which start together. The first exception of one of them is raised
   --  here, once all have ended.

end Parallel;
