--  SPDX-License-Identifier: Apache-2.0
--
--  Programs that are read from and written to

private with Ada.Streams.Stream_IO;

package Process_Cases.Piping is

   type Content_Case is abstract limited new Process_Case with private;
   --  Bytes that a program writes, or that are written to it and come back

   overriding procedure Prepare
     (Self : in out Content_Case; Arguments : Fields.Field_List; Inputs : Sequence);

   overriding function Units_Of (Self : Content_Case) return Unit_Count;

   type Read_Case is limited new Content_Case with private;
   --  All that a program writes

   overriding procedure Prepare
     (Self : in out Read_Case; Arguments : Fields.Field_List; Inputs : Sequence);

   overriding procedure Operate (Self : in out Read_Case; Check : in out Check_Value);

   overriding function Metric (Self : Read_Case) return String is ("first_byte");

   overriding procedure Close (Self : in out Read_Case);

   type Exchange_Case is limited new Content_Case with private;
   --  All is written to a filter, and read back at the same time

   overriding procedure Operate (Self : in out Exchange_Case; Check : in out Check_Value);

   type Write_Then_Read_Case is limited new Content_Case with private;
   --  Elsewhere a mistake: all is written before anything is read. Here Write reads, too.

   overriding procedure Operate (Self : in out Write_Then_Read_Case; Check : in out Check_Value);

   overriding function Units_Of (Self : Write_Then_Read_Case) return Unit_Count is (1);

   overriding function Metric (Self : Write_Then_Read_Case) return String is ("deadlocked");

   type Converse_Case is limited new Process_Case with private;
   --  A line to a filter, its line back, and so on

   overriding procedure Prepare
     (Self : in out Converse_Case; Arguments : Fields.Field_List; Inputs : Sequence);

   overriding procedure Operate (Self : in out Converse_Case; Check : in out Check_Value);

   overriding function Units_Of (Self : Converse_Case) return Unit_Count;

private

   type Content_Case is abstract limited new Process_Case with record
      Content : Memory;
      Outcome : Check_Value;
   end record;

   type Read_Case is limited new Content_Case with record
      File     : Ada.Streams.Stream_IO.File_Type;
      --  With the content; it is deleted when it is closed
      Received : Memory;
      --  With room for a byte too many
   end record;

   type Exchange_Case is limited new Content_Case with null record;
   type Write_Then_Read_Case is limited new Content_Case with null record;

   type Converse_Case is limited new Process_Case with record
      Lines   : String_List;
      Outcome : Check_Value;
   end record;

   overriding function Units_Of (Self : Content_Case) return Unit_Count is
     (Self.Content.Bytes'Length);

   overriding function Units_Of (Self : Converse_Case) return Unit_Count is
     (Unit_Count (Self.Lines.Length));

end Process_Cases.Piping;
