--  SPDX-License-Identifier: Apache-2.0

package body Traces is

   type Sum_List is array (Unsigned_64 range 0 .. Zipf_Keys - 1) of Unsigned_64;

   --  Uses integers, so that the results are the same in all languages: key i has the weight 2 **
   --  32 / (i + 1)

   function Weight_Sums return Sum_List is
      Sum : Unsigned_64 := 0;
   begin
      return Result : Sum_List do
         for I in Result'Range loop
            Sum := Sum + 2 ** 32 / (I + 1);
            Result (I) := Sum;
         end loop;
      end return;
   end Weight_Sums;

   --  Returns the first key whose sum is greater than Drawn

   function Key_Of (Sums : Sum_List; Drawn : Unsigned_64) return Unsigned_64 is
      Low  : Unsigned_64 := Sums'First;
      High : Unsigned_64 := Sums'Last;
   begin
      while Low < High loop
         declare
            Middle : constant Unsigned_64 := (Low + High) / 2;
         begin
            if Sums (Middle) > Drawn then
               High := Middle;
            else
               Low := Middle + 1;
            end if;
         end;
      end loop;
      return Low;
   end Key_Of;

   function Zipf (Inputs : Sequence; Reads : Percentage) return Trace is
      Sums : constant Sum_List := Weight_Sums;
   begin
      return Result : Trace do
         for K in Result'Range loop
            Result (K) :=
              (Key   => Key_Of (Sums, Inputs (K) mod Sums (Sums'Last)),
               Reads => Shift_Right (Inputs (K), 32) mod 100 < Reads);
         end loop;
      end return;
   end Zipf;

   --  The seeded sequence, mixed so that it does not repeat

   function Mixed (Inputs : Sequence; K : Unsigned_64) return Unsigned_64 is
      Length : constant Unsigned_64 := Unsigned_64 (Input_Index'Last) + 1;
      Input  : Unsigned_64 :=
        Inputs (Input_Index'Mod (K)) + (K / Length) * 16#9E37_79B9_7F4A_7C15#;
   begin
      Input := (Input xor Shift_Right (Input, 30)) * 16#BF58_476D_1CE4_E5B9#;
      return Input xor Shift_Right (Input, 27);
   end Mixed;

   function Requests (Inputs : Sequence; Name : String) return Request_List is
      Sums : constant Sum_List := Weight_Sums;

      function Zipf_Key (K : Unsigned_64) return Unsigned_64 is
        (Key_Of (Sums, Mixed (Inputs, K) mod Sums (Sums'Last)));
   begin
      return Result : Request_List do
         for K in Result'Range loop
            Result (K) :=
              (if Name = "zipf" then Zipf_Key (K)
               elsif Name = "loop" then K mod 1_250
               elsif Name = "scans" then
                 (if K / 2_000 mod 2 = 0 then Zipf_Key (K) else 1_000_000 + K)
               elsif Name = "shifting" then 100_000 * (K / 10_000) + Zipf_Key (K)
               else raise Benchlab.Unsupported_Error with "unknown trace " & Name);
         end loop;
      end return;
   end Requests;

   function Uniform (Inputs : Sequence; Keys : Unsigned_64; Reads : Boolean) return Trace is
     [for K in Input_Index => (Key => Inputs (K) mod Keys, Reads => Reads)];

end Traces;
