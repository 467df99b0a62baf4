--  SPDX-License-Identifier: Apache-2.0

package body Counter_Loops is

   use Interfaces;

   overriding procedure Increment (Self : in out Counter; Times : Operation_Count) is
   begin
      for Operation in 1 .. Times loop
         Increment_Once (Self.Total);
      end loop;
   end Increment;

   overriding procedure Increment_And_Read
     (Self : in out Counter; Times : Operation_Count; Backwards : out Check_Value)
   is
      Before : Integer_64 := 0;
      Now    : Integer_64;
   begin
      Backwards := 0;
      for Operation in 1 .. Times loop
         Increment_Once (Self.Total);
         for Read in 1 .. Schemes.Reads loop
            Now       := Single_Value (Self.Total);
            Backwards := @ + Boolean'Pos (Now < Before);
            Before    := Now;
         end loop;
      end loop;
   end Increment_And_Read;

end Counter_Loops;
