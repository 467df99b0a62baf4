package body Hashes is

   use Interfaces;

   Basis : constant Unsigned_32 := 2_166_136_261;
   Prime : constant Unsigned_32 := 16_777_619;

   function Byte (Value : Unsigned_64) return Unsigned_8 is
     (Unsigned_8 (Value and 16#FF#));

   overriding procedure Open
     (Self      : in out Hash_Case;
      Arguments : Fields.Field_List;
      Inputs    : Sequence;
      Settings  : in out Fields.Field_List)
   is
      pragma Unreferenced (Settings);
   begin
      Self.Inputs := Inputs;
      Self.Size   := Positive (Arguments.Number ("n", 1, Max_Bytes));
      for I in 0 .. Self.Size - 1 loop
         Self.Data (I) := Byte (Inputs (Input_Index (I mod 4_096)));
      end loop;
   end Open;

   overriding procedure Perform
     (Self       : in out Hash_Case;
      Operations : Operation_Count;
      Check      : out Check_Value;
      Units      : out Unit_Count)
   is
      Sum : Unsigned_32;
   begin
      Check := 0;
      for K in 1 .. Operations loop
         Self.Data (0) := Byte (Self.Inputs (Input_Index ((K - 1) mod 4_096)));
         Sum := Basis;
         for I in 0 .. Self.Size - 1 loop
            Sum := (Sum xor Unsigned_32 (Self.Data (I))) * Prime;
         end loop;
         --  Every value that the work produced: the same in all subjects
         Check := Check + Check_Value (Sum);
      end loop;
      Units := Unit_Count (Operations) * Unit_Count (Self.Size);
   end Perform;

end Hashes;
