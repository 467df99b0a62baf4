--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Its main procedure returns at once, and the task of a library package goes on

with Late_Writers;
pragma Unreferenced (Late_Writers);

procedure Late_Writes is
begin
   null;
end Late_Writes;
