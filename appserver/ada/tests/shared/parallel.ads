--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

package Parallel is

   procedure Run (Tasks : Positive; Work : not null access procedure (Number : Positive));
   --  Calls Work in concurrent tasks, which start together. Raises the first exception of a task
   --  again after all tasks have ended.

end Parallel;
