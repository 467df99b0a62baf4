--  SPDX-License-Identifier: Apache-2.0
--
--  How long each of many operations took: the histogram of docs/protocol.md, "Latencies".

with Benchlab.Kernel;
with Interfaces;

package Benchlab.Latencies is

   use type Interfaces.Unsigned_64;

   type Bucket is range 0 .. 1_887;
   --  Up to the longest latency there can be, 2 ** 63 - 1 ns

   function Bucket_Of (Latency : Kernel.Nanoseconds) return Bucket with Inline;
   --  HdrHistogram's layout with 64 sub-buckets: at most 1/32 as wide as what it counts

   type Recorder is tagged private;
   --  Used by one task at a time. It allocates no memory while it records.

   procedure Start (Self : in out Recorder) with Inline;
   --  Forgets what it holds. The first operation begins now.

   procedure Lap (Self : in out Recorder) with Inline;
   --  An operation ends now, and the next one begins

   procedure Await (Self : in out Recorder; Due : Kernel.Nanoseconds);
   --  Waits until the next operation is due, Due ns after the start. Its latency counts from then,
   --  even if it begins later.

   procedure Finish (Self : in out Recorder);
   --  The last operation ends now, unless a lap ended it

   procedure Add (Self : in out Recorder; Other : Recorder);
   --  Adds the operations of Other to Self

   function Operations (Self : Recorder) return Interfaces.Unsigned_64;

   function First_Start (Self : Recorder) return Kernel.Nanoseconds;
   function Last_End (Self : Recorder) return Kernel.Nanoseconds;
   --  The first start and the last end of all operations, in ns of the monotonic clock

   function Image (Self : Recorder) return String;
   --  Such as "190:2,509:1": each bucket that is not empty, and its count

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
