--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

with Ada.Exceptions;
with Ada.Synchronous_Barriers;

package body Parallel is

   use Ada.Exceptions;
   use Ada.Synchronous_Barriers;

   procedure Run (Tasks : Positive; Work : not null access procedure (Number : Positive)) is

      Start : Synchronous_Barrier (Tasks);

      protected Failures is
         procedure Keep (Error : Exception_Occurrence);
         procedure Raise_First;
      private
         Any   : Boolean := False;
         First : Exception_Occurrence;
      end Failures;

      protected body Failures is

         procedure Keep (Error : Exception_Occurrence) is
         begin
            if not Any then
               Save_Occurrence (First, Error);
               Any := True;
            end if;
         end Keep;

         procedure Raise_First is
         begin
            if Any then
               Reraise_Occurrence (First);
            end if;
         end Raise_First;

      end Failures;

   begin
      declare
         task type Worker (Number : Positive := 1);

         task body Worker is
            Is_Last : Boolean;
         begin
            Wait_For_Release (Start, Is_Last);
            Work (Number);
         exception
            when Error : others =>
               Failures.Keep (Error);
         end Worker;

         type Worker_Access is access Worker;
         Ignored : Worker_Access;
      begin
         for Number in 1 .. Tasks loop
            Ignored := new Worker (Number);
         end loop;
      end;
      Failures.Raise_First;
   end Run;

end Parallel;
