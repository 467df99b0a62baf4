--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

with AUnit.Assertions; use AUnit.Assertions;

procedure Await (Condition : not null access function return Boolean; Message : String) is
begin
   for Turn in 1 .. 60_000 loop
      if Condition.all then
         return;
      end if;
      delay 0.001;
   end loop;
   Assert (False, "not within a minute: " & Message);
end Await;
