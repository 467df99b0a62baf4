--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

package Parallel is

   procedure Run (Tasks : Positive; Work : not null access procedure (Number : Positive));
   --  Calls Work in concurrent tasks, which start together. If tasks raise exceptions, raises the
   --  first of these exceptions again after all tasks have ended.

end Parallel;
