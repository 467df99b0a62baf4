--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Random numbers and texts that are the same in each run, so that failures are reproducible.

package Dice is

   function Next (Size : Positive) return Natural
     with Post => Next'Result < Size;

   type Piece is access constant String;
   type Piece_List is array (Positive range <>) of not null Piece;

   function "+" (Text : String) return not null Piece is (new String'(Text));

   function Joined (Pieces : Piece_List; Max : Natural) return String;
   --  Returns the concatenation of up to Max randomly chosen pieces

end Dice;
