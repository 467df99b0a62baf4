--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

pragma Ada_2022;

with System.Atomic_Operations.Exchange;

package body Appserver.HTTP.Locks is

   use type Linux.Word;

   package Exchanges is new System.Atomic_Operations.Exchange (Linux.Word);

   procedure Acquire (Self : in out Lock) is
      Observed : aliased Linux.Word := Is_Free;
   begin
      if not Exchanges.Atomic_Compare_And_Exchange (Self.State, Observed, Is_Taken) then
         while Exchanges.Atomic_Exchange (Self.State, Is_Contended) /= Is_Free loop
            Linux.Sleep_While (Self.State, Is_Contended);
         end loop;
      end if;
   end Acquire;

   procedure Release (Self : in out Lock) is
   begin
      if Exchanges.Atomic_Exchange (Self.State, Is_Free) = Is_Contended then
         Linux.Wake_One (Self.State);
      end if;
   end Release;

end Appserver.HTTP.Locks;
