--  SPDX-License-Identifier: Apache-2.0
--
--  Cases that read from programs and write to them

private with Ada.Streams.Stream_IO;

package Process_Cases.Piping is

   type Content_Case is abstract limited new Process_Case with private;
   --  A case in which a program writes bytes, or copies its input to its output

   overriding procedure Prepare
     (Self : in out Content_Case; Arguments : Fields.Field_List; Inputs : Sequence);

   overriding function Units_Of (Self : Content_Case) return Unit_Count;

   type Read_Case is limited new Content_Case with private;
   --  A case that reads all bytes that a program writes

   overriding procedure Prepare
     (Self : in out Read_Case; Arguments : Fields.Field_List; Inputs : Sequence);

   overriding procedure Operate (Self : in out Read_Case; Check : in out Check_Value);

   overriding function Metric (Self : Read_Case) return String is ("first_byte");

   overriding procedure Close (Self : in out Read_Case);

   type Exchange_Case is limited new Content_Case with private;
   --  A case that writes the content to a filter, and concurrently reads the filter's output

   overriding procedure Operate (Self : in out Exchange_Case; Check : in out Check_Value);

   type Write_Then_Read_Case is limited new Content_Case with private;
   --  A case that writes the whole content before it reads. With many libraries, this order causes
   --  a deadlock, but Appserver.Processes.Write also reads the output.

   overriding procedure Operate (Self : in out Write_Then_Read_Case; Check : in out Check_Value);

   overriding function Units_Of (Self : Write_Then_Read_Case) return Unit_Count is (1);

   overriding function Metric (Self : Write_Then_Read_Case) return String is ("deadlocked");

   type Converse_Case is limited new Process_Case with private;
   --  A case that repeatedly writes a line to a filter and reads the filter's response

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
      --  A temporary file with the content. The file is deleted when it is closed.
      Received : Memory;
      --  A buffer for the received bytes, with room for one extra byte
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
