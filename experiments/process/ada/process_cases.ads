--  SPDX-License-Identifier: Apache-2.0
--
--  The base type of the cases, with a parent process of a given size, and the metrics of a batch.

with Appserver.Processes;
with Benchlab.Cases;
with Benchlab.Fields;
with Benchlab.Seeded_Sequences;
with Interfaces;

private with Ada.Finalization;

package Process_Cases is

   use Appserver.Processes;
   use Benchlab;
   use Benchlab.Seeded_Sequences;
   use type Interfaces.Unsigned_64;

   Output_Error : exception;
   --  A program's output, input or exit status was unexpected

   Silent  : constant Settings := (Input | Output | Error => Discarded, others => <>);
   Writing : constant Settings := (Silent with delta Output => Piped);
   Filter  : constant Settings := (Writing with delta Input => Piped);

   type Process_Case is abstract limited new Cases.Measuring_Case with private;

   procedure Prepare
     (Self : in out Process_Case; Arguments : Fields.Field_List; Inputs : Sequence) is null;

   procedure Operate (Self : in out Process_Case; Check : in out Check_Value) is abstract;
   --  Performs one operation, and adds the hash of the program's output and the number of its exit
   --  status to Check

   function Units_Of (Self : Process_Case) return Unit_Count is (1);
   --  Returns the number of units that each operation produces

   function Metric (Self : Process_Case) return String is ("");
   --  Returns the name of the metric whose mean over the operations is reported; empty if there is
   --  none

   procedure Measure (Self : in out Process_Case; Value : Fields.Metric_Value);
   --  Reports the metric of the current operation

   overriding procedure Open
     (Self      : in out Process_Case;
      Arguments : Fields.Field_List;
      Inputs    : Sequence;
      Settings  : in out Fields.Field_List);

   overriding procedure Perform
     (Self       : in out Process_Case;
      Operations : Operation_Count;
      Check      : out Check_Value;
      Units      : out Unit_Count);

   overriding function Metrics (Self : Process_Case) return Fields.Field_List;

   overriding procedure Close (Self : in out Process_Case) is null;

   function Hash (Bytes : String) return Check_Value;
   --  Computes the 64-bit FNV-1a hash of Bytes (Fowler, Noll, Vo)

   function Number (Status : Exit_Status) return Check_Value is
     (case Status.Kind is
         when Exited   => Check_Value (Status.Code),
         when Signaled => 256 + Check_Value (Status.Signal));

private

   type Byte_Access is access String;

   --  Memory of a given size. Allocate writes to each page, so that all of the memory is resident.

   type Memory is limited new Ada.Finalization.Limited_Controlled with record
      Bytes : Byte_Access;
   end record;

   procedure Allocate (Self : in out Memory; Size : Positive);

   overriding procedure Finalize (Self : in out Memory);

   type Process_Case is abstract limited new Cases.Measuring_Case with record
      Parent      : Memory;
      Descriptors : Natural := 0;
      Operations  : Operation_Count := 1;
      Measured    : Fields.Metric_Value := 0.0;
      --  The sum of the metric over the operations of the latest batch
   end record;

end Process_Cases;
