--  SPDX-License-Identifier: Apache-2.0
--
--  Records the latencies of operations in the histogram that docs/protocol.md specifies
--  ("Latencies").

with Benchlab.Kernel;
with Interfaces;

package Benchlab.Latencies is

   use type Interfaces.Unsigned_64;

   type Bucket is range 0 .. 1_887;
   --  The number of a bucket. The buckets cover latencies up to 2 ** 63 - 1 ns.

   function Bucket_Of (Latency : Kernel.Nanoseconds) return Bucket with Inline;
   --  Returns the bucket of a latency, in HdrHistogram's layout with 64 sub-buckets. Above 63 ns,
   --  the width of a bucket is at most 1/32 of the bucket's smallest value.

   type Recorder is tagged private;
   --  Records latencies. Only one task at a time may use a recorder. Recording allocates no memory.

   procedure Start (Self : in out Recorder) with Inline;
   --  Clears the recorder, and starts the first operation

   procedure Lap (Self : in out Recorder) with Inline;
   --  Ends the current operation, and starts the next one

   procedure Await (Self : in out Recorder; Due : Kernel.Nanoseconds);
   --  Waits until the next operation is due, which is Due ns after the start. The latency of this
   --  operation is measured from the due time, even if the operation begins later.

   procedure Finish (Self : in out Recorder);
   --  Ends the last operation, unless a call to Lap has already ended it

   procedure Add (Self : in out Recorder; Other : Recorder);
   --  Adds the operations of Other

   function Operations (Self : Recorder) return Interfaces.Unsigned_64;

   function First_Start (Self : Recorder) return Kernel.Nanoseconds;
   function Last_End (Self : Recorder) return Kernel.Nanoseconds;
   --  Return the earliest start and the latest end of all operations, in ns of the monotonic clock

   function Image (Self : Recorder) return String;
   --  Formats the nonempty buckets and their counts, such as "190:2,509:1"

private

   type Count_List is array (Bucket) of Interfaces.Unsigned_64;

   type Recorder is tagged record
      First  : Kernel.Nanoseconds := Kernel.Nanoseconds'Last;
      Last   : Kernel.Nanoseconds := 0;
      Counts : Count_List := [others => 0];
   end record;

   function First_Start (Self : Recorder) return Kernel.Nanoseconds is (Self.First);
   function Last_End (Self : Recorder) return Kernel.Nanoseconds is (Self.Last);

end Benchlab.Latencies;
