--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

pragma Ada_2022;

package body Appserver.HTTP.Blocks is

   --  All blocks of a chain are full, except possibly the last

   function Free_In_Last (Self : Chain) return Natural is
     ((Block_Size - Self.Length mod Block_Size) mod Block_Size);

   procedure Add_Block (Self : in out Pool; To : in out Chain) is
      Fresh : Block_Count;
   begin
      if Self.Free /= No_Block then
         Fresh      := Self.Free;
         Self.Free  := Self.Links (Fresh);
         Self.Spare := Self.Spare - 1;
      else
         Self.Used := Self.Used + 1;
         Fresh     := Self.Used;
      end if;
      Self.Links (Fresh) := No_Block;
      if To.First = No_Block then
         To.First := Fresh;
      else
         Self.Links (To.Last) := Fresh;
      end if;
      To.Last := Fresh;
   end Add_Block;

   procedure Put
     (Self : in out Pool; Bytes : String; To : in out Chain; Has_Room : out Boolean)
   is
      Available : constant Long_Long_Integer :=
        Long_Long_Integer (Self.Count - Self.Used + Self.Spare) * Block_Size
        + Long_Long_Integer (Free_In_Last (To));
      Next      : Positive := Bytes'First;
   begin
      Has_Room := Bytes'Length <= Available;
      while Has_Room and then Next <= Bytes'Last loop
         if Free_In_Last (To) = 0 then
            Add_Block (Self, To);
         end if;
         declare
            At_Byte : constant Natural := To.Length mod Block_Size;
            Size    : constant Positive :=
              Positive'Min (Bytes'Last - Next + 1, Block_Size - At_Byte);
         begin
            Self.Room (To.Last) (At_Byte + 1 .. At_Byte + Size) :=
              Bytes (Next .. Next + Size - 1);
            To.Length := To.Length + Size;
            Next      := Next + Size;
         end;
      end loop;
   end Put;

   procedure Take (Self : in out Pool; From : in out Chain; Bytes : out String) is
      Place : Block_Count := From.First;
      Next  : Positive    := Bytes'First;
   begin
      while Next <= Bytes'Last loop
         declare
            Size : constant Positive := Positive'Min (Bytes'Last - Next + 1, Block_Size);
         begin
            Bytes (Next .. Next + Size - 1) := Self.Room (Place) (1 .. Size);
            Next  := Next + Size;
            Place := Self.Links (Place);
         end;
      end loop;
      Drop (Self, From);
   end Take;

   procedure Drop (Self : in out Pool; From : in out Chain) is
   begin
      if From.First /= No_Block then
         Self.Links (From.Last) := Self.Free;
         Self.Free  := From.First;
         Self.Spare := Self.Spare
           + Block_Count ((From.Length + Block_Size - 1) / Block_Size);
         From := Empty;
      end if;
   end Drop;

end Appserver.HTTP.Blocks;
