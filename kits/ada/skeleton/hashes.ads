--  The cases of the subject in Ada

with Benchlab.Cases;
with Benchlab.Fields;
with Benchlab.Seeded_Sequences;
with Interfaces;

package Hashes is

   use Benchlab;
   use Benchlab.Seeded_Sequences;

   Max_Bytes : constant := 2 ** 20;

   type Byte_Array is array (Natural range <>) of Interfaces.Unsigned_8;

   --  A case that computes the FNV-1a hash of Size bytes

   type Hash_Case is limited new Cases.Subject_Case with record
      Inputs : Sequence;
      Size   : Positive;
      Data   : Byte_Array (0 .. Max_Bytes - 1);
   end record;

   --  Prepares the case. benchlab does not measure the time of this call.

   overriding procedure Open
     (Self      : in out Hash_Case;
      Arguments : Fields.Field_List;
      Inputs    : Sequence;
      Settings  : in out Fields.Field_List);

   --  Performs the operations. benchlab measures the time of this call.

   overriding procedure Perform
     (Self       : in out Hash_Case;
      Operations : Operation_Count;
      Check      : out Check_Value;
      Units      : out Unit_Count);

   overriding procedure Close (Self : in out Hash_Case) is null;

   function New_Case (Name : String) return Cases.Case_Reference is
     (if Name = "hash" then new Hash_Case else null);

end Hashes;
