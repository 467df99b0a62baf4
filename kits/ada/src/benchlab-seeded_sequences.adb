--  SPDX-License-Identifier: Apache-2.0

package body Benchlab.Seeded_Sequences is

   use Interfaces;

   function Mixed (State : Unsigned_64) return Unsigned_64 is
      Z : Unsigned_64 := State;
   begin
      Z := (Z xor Shift_Right (Z, 30)) * 16#BF58_476D_1CE4_E5B9#;
      Z := (Z xor Shift_Right (Z, 27)) * 16#94D0_49BB_1331_11EB#;
      return Z xor Shift_Right (Z, 31);
   end Mixed;

   function Values (Seed : Unsigned_64) return Sequence is
      State : Unsigned_64 := Seed;
   begin
      return Result : Sequence do
         for Value of Result loop
            State := State + 16#9E37_79B9_7F4A_7C15#;
            Value := Mixed (State);
         end loop;
      end return;
   end Values;

end Benchlab.Seeded_Sequences;
