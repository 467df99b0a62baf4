--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

package body Unprobed is

   function Sum (Place : Positive) return Natural is
      Bytes : String (1 .. 1_000_000) with Volatile;
   begin
      Bytes (Place) := 'x';
      return Character'Pos (Bytes (Place));
   end Sum;

end Unprobed;
