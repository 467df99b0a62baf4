--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

with Interfaces;

package body Dice is

   use Interfaces;

   State : Unsigned_64 := 7;

   --  SplitMix64

   function Next (Size : Positive) return Natural is
      Value : Unsigned_64;
   begin
      State := State + 16#9E37_79B9_7F4A_7C15#;
      Value := (State xor Shift_Right (State, 30)) * 16#BF58_476D_1CE4_E5B9#;
      Value := (Value xor Shift_Right (Value, 27)) * 16#94D0_49BB_1331_11EB#;
      return Natural ((Value xor Shift_Right (Value, 31)) mod Unsigned_64 (Size));
   end Next;

   function Joined (Pieces : Piece_List; Max : Natural) return String is

      function Part (Count : Natural) return String is
        (if Count = 0 then ""
         else Pieces (Pieces'First + Next (Pieces'Length)).all & Part (Count - 1));

   begin
      return Part (Next (Max + 1));
   end Joined;

end Dice;
