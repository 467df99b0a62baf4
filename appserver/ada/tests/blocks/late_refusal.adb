--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  A program for runs in which the kernel rejects membarrier(2) after startup, so that no memory
--  can be freed. The cache must still grow and be readable, and the program must exit.

with Library_Caches;

procedure Late_Refusal is

   Size : constant := 20_000;

   function Found (Key : Integer) return Integer is
      Element  : Integer := 0;
      Is_Found : Boolean;
   begin
      Library_Caches.Cache.Get (Key, Element, Is_Found);
      return (if Is_Found then Element else 0);
   end Found;

begin
   for Turn in 1 .. 2 loop
      for Key in 1 .. Size loop
         Library_Caches.Cache.Put (Key, Turn * Key);
      end loop;
      if not (for all Key in 1 .. Size => Found (Key) = Turn * Key) then
         raise Program_Error with "not found";
      end if;
   end loop;
end Late_Refusal;
