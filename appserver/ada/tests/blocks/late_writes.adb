--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  The main procedure returns immediately, and the task of a library package continues

with Late_Writers;
pragma Unreferenced (Late_Writers);

procedure Late_Writes is
begin
   null;
end Late_Writes;
